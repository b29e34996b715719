import type { Random } from '../../../src/base/random.ts';
import { between, pick, shuffled, some } from '../draw.ts';
import { forSplit, numberFor } from '../splits.ts';
import type { Deploy, Moment, Split, Ticket, World } from '../world.ts';
import { dayNumberOf, momentOn, workdayBefore, workdayFrom } from './calendar.ts';
import { TICKET_OBJECTS, TICKET_VERBS } from './pools.ts';

export interface RecordOptions {
  readonly random: Random;
  readonly world: World;
  readonly split: Split;
  readonly index: number;
  readonly today: Moment;
  readonly count: number;
}

const STATES: readonly Ticket['state'][] = ['todo', 'doing', 'done'];
const QUARTERS = [0, 15, 30, 45];
/** Ticket numbers of one day, so that those of two days never meet. */
const NUMBERS_PER_DAY = 90;

/** Some day before or after, of the split's own days. */
export function dayNear(random: Random, today: Moment, split: Split, span: number): number {
  const from = dayNumberOf(today);
  return span < 0
    ? workdayBefore(from - random.below(-span), split)
    : workdayFrom(from + 1 + random.below(span), split);
}

export const timeOn = (random: Random, dayNumber: number): Moment =>
  momentOn(dayNumber, between(random, 9, 17), pick(random, QUARTERS));

export function makeTickets({ random, world, split, index, today, count }: RecordOptions): readonly Ticket[] {
  const objects = some(random, forSplit(TICKET_OBJECTS, split), count);
  const verbs = forSplit(TICKET_VERBS, split);
  const first = 300 + index * NUMBERS_PER_DAY + 3 * random.below(4);
  // Few enough people and projects that they recur: a value that occurs once would give itself away.
  const owners = some(random, world.people, 4);
  const projects = some(random, world.projects, 3);
  const numbers: number[] = [];
  for (let next = first; numbers.length < objects.length; next += 3 * between(random, 1, 2)) {
    numbers.push(numberFor(next, split));
  }
  return objects.map((object, at) => ({
    number: numbers[at] ?? first,
    title: `${pick(random, verbs)} ${object}`,
    project: pick(random, projects),
    owner: pick(random, owners).name,
    state: pick(random, STATES),
    dueAt: timeOn(random, dayNear(random, today, split, pick(random, [-9, 12, 30]))),
    estimateHours: numberFor(between(random, 3, 36), split),
  }));
}

const ENVIRONMENTS: readonly Deploy['environment'][] = ['staging', 'production'];
const OUTCOMES: readonly Deploy['outcome'][] = ['succeeded', 'succeeded', 'rolled back', 'failed'];

/** What went out lately; its changes are tickets of the board by their titles, and each ticket went out at most once. */
export function makeDeploys(options: RecordOptions, tickets: readonly Ticket[]): readonly Deploy[] {
  const { random, world, split, index, today, count } = options;
  const hands = some(random, world.people, 3);
  const left = [...shuffled(random, tickets)];
  // No two at the same time, so that there is a first and a last.
  const minutes = shuffled(
    random,
    Array.from({ length: 60 }, (_, minute) => minute),
  );
  const minors = shuffled(
    random,
    Array.from({ length: count + 4 }, (_, at) => at + 1),
  );
  return Array.from({ length: count }, (_, at): Deploy => {
    const first = left.shift();
    const project = first?.project ?? pick(random, world.projects);
    const also = left.findIndex((ticket) => ticket.project === project);
    const second = also >= 0 && random.below(2) === 0 ? left.splice(also, 1)[0] : undefined;
    return {
      version: `${index + 1}.${minors[at] ?? at}.${numberFor(between(random, 3, 24), split)}`,
      project,
      environment: pick(random, ENVIRONMENTS),
      at: momentOn(dayNear(random, today, split, -12), between(random, 9, 17), minutes[at] ?? at),
      by: pick(random, hands).name,
      outcome: pick(random, OUTCOMES),
      changes: [first, second].flatMap((ticket) => (ticket === undefined ? [] : [ticket.title])),
    };
  });
}
