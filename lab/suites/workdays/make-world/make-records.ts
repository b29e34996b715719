import type { Random } from '../../../../src/base/random.ts';
import { between, forSplit, numberFor, pick, shuffled, some } from '../draw.ts';
import type {
  Assumption,
  Deploy,
  Estimate,
  LocalTime,
  MeasuredFigure,
  Ruling,
  Split,
  Ticket,
  World,
} from '../world.ts';
import { dayNumberOf, momentOn, workdayBefore, workdayFrom } from './calendar.ts';
import { METRICS, REASONS, SOURCES, TICKET_OBJECTS, TICKET_VERBS, TOPICS } from './pools.ts';

export interface RecordOptions {
  readonly random: Random;
  readonly world: World;
  readonly split: Split;
  readonly index: number;
  readonly today: LocalTime;
  readonly count: number;
}

const STATES: readonly Ticket['state'][] = ['todo', 'doing', 'done'];
const QUARTERS = [0, 15, 30, 45];
/** Ticket numbers reserved per day, so that days do not overlap. */
const NUMBERS_PER_DAY = 90;

/** A random workday of the split within `span` days, before today if negative. */
function dayNear(random: Random, today: LocalTime, split: Split, span: number): number {
  const from = dayNumberOf(today);
  return span < 0
    ? workdayBefore(from - random.below(-span), split)
    : workdayFrom(from + 1 + random.below(span), split);
}

const timeOn = (random: Random, dayNumber: number): LocalTime =>
  momentOn(dayNumber, between(random, 9, 17), pick(random, QUARTERS));

export function makeTickets({ random, world, split, index, today, count }: RecordOptions): readonly Ticket[] {
  const objects = some(random, forSplit(TICKET_OBJECTS, split), count);
  const verbs = forSplit(TICKET_VERBS, split);
  const first = 300 + index * NUMBERS_PER_DAY + 3 * random.below(4);
  // People and projects recur: a value that occurs only once would be a clue.
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

/** Recent deploys. Their changes are titles of tickets on the board, each in at most one deploy. */
export function makeDeploys(options: RecordOptions, tickets: readonly Ticket[]): readonly Deploy[] {
  const { random, world, split, index, today, count } = options;
  const hands = some(random, world.people, 3);
  const left = [...shuffled(random, tickets)];
  // All at different times, so that there is a first and a last.
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

/** Decision numbers reserved per day, so that days do not overlap. */
const RULINGS_PER_DAY = 30;

/** Recent decisions, each topic once a day. */
export function makeRulings({ random, world, split, index, today, count }: RecordOptions): readonly Ruling[] {
  const deciders = some(random, world.people, 4);
  const projects = some(random, world.projects, 3);
  return some(random, forSplit(TOPICS, split), count).map((topic, at): Ruling => {
    const way = pick(random, topic.ways);
    const day = dayNear(random, today, split, -15);
    const reason = pick(random, forSplit(REASONS, split));
    return {
      topic: topic.name,
      way,
      ways: topic.ways,
      decision: {
        id: `D-${numberFor(11 + index * RULINGS_PER_DAY + at * 3, split)}`,
        project: pick(random, projects),
        at: timeOn(random, day),
        decision: `For the ${topic.name}, choose ${way}`,
        rationale: reason.replace('#', String(numberFor(between(random, 12, 380), split))),
        by: pick(random, deciders).name,
        reviewAt: timeOn(random, dayNear(random, today, split, 70)),
      },
    };
  });
}

export function makeFigures({
  random,
  world,
  split,
  today,
  count,
}: RecordOptions): readonly MeasuredFigure[] {
  const sources = some(random, forSplit(SOURCES, split), 3);
  const projects = some(random, world.projects, 3);
  return some(random, forSplit(METRICS, split), count).map(([name, unit, low, high]) => ({
    name,
    project: pick(random, projects),
    value: numberFor(between(random, low, high), split),
    unit,
    source: pick(random, sources),
    at: timeOn(random, dayNear(random, today, split, -40)),
  }));
}

const spreadOf = (value: number): number => Math.max(3, Math.round(value * 0.3));

/** The plan has another value than the measured one about half of the time. */
export const makeAssumptions = (
  { random, split }: RecordOptions,
  figures: readonly MeasuredFigure[],
): readonly Assumption[] =>
  figures.map((figure) => {
    const shift = pick(random, [-1, 1]) * between(random, 3, spreadOf(figure.value) + 3);
    const other = numberFor(Math.max(3, figure.value + shift), split);
    return { figure, value: random.below(2) === 0 ? figure.value : other };
  });

/** Ranges that contain the measured value about half of the time. */
export const makeEstimates = (
  { random, world, split }: RecordOptions,
  figures: readonly MeasuredFigure[],
): readonly Estimate[] =>
  figures.map((figure) => {
    const width = spreadOf(figure.value);
    const shift = pick(random, [-2, -1, 0, 1]) * width;
    const low = numberFor(Math.max(0, figure.value + shift - random.below(width)), split);
    return {
      figure,
      by: pick(random, world.people).name,
      low,
      high: numberFor(low + width + random.below(width), split),
    };
  });
