import type { Random } from '../../../src/base/random.ts';
import { between, forSplit, numberFor, pick, shuffled, some } from '../draw.ts';
import {
  type Assumption,
  CHECKS,
  type Citation,
  type Deploy,
  type Estimate,
  type Finding,
  type LocalTime,
  type Ruling,
  type Split,
  type Statistic,
  type Ticket,
  type Validation,
  type Wish,
  type World,
} from '../world.ts';
import { dayNumberOf, momentOn, workdayBefore, workdayFrom } from './calendar.ts';
import { METRICS, REASONS, SEGMENTS, SOURCES, TICKET_OBJECTS, TICKET_VERBS, TOPICS } from './pools.ts';

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

/** Recent decisions, each topic once a day; about half of them replace an earlier one. */
export function makeRulings({ random, world, split, index, today, count }: RecordOptions): readonly Ruling[] {
  const deciders = some(random, world.people, 4);
  const projects = some(random, world.projects, 3);
  return some(random, forSplit(TOPICS, split), count).map((topic, at): Ruling => {
    const [way = '', before = ''] = some(random, topic.ways, 2);
    const day = dayNear(random, today, split, -15);
    const reason = pick(random, forSplit(REASONS, split));
    const hadAnother = at === 0 || random.below(2) === 0;
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
      ...(hadAnother && {
        earlier: {
          way: before,
          by: pick(random, deciders).name,
          at: timeOn(random, workdayBefore(day - between(random, 3, 20), split)),
        },
      }),
    };
  });
}

/** About half of the wishes agree with the decision. */
export const makeWishes = ({ random, world }: RecordOptions, rulings: readonly Ruling[]): readonly Wish[] =>
  rulings.map((ruling) => {
    const others = world.people.filter(({ name }) => name !== ruling.decision.by);
    return {
      ruling,
      by: pick(random, others).name,
      way:
        random.below(2) === 0
          ? ruling.way
          : pick(
              random,
              ruling.ways.filter((way) => way !== ruling.way),
            ),
    };
  });

const STATISTICS: readonly Statistic[] = ['median', 'mean', 'upper quartile', 'lower quartile'];

export function makeFindings({ random, world, split, today, count }: RecordOptions): readonly Finding[] {
  const sources = some(random, forSplit(SOURCES, split), 3);
  const segments = some(random, forSplit(SEGMENTS, split), 4);
  const projects = some(random, world.projects, 3);
  return some(random, forSplit(METRICS, split), count).map(([name, unit, low, high]) => ({
    figure: {
      name,
      project: pick(random, projects),
      value: numberFor(between(random, low, high), split),
      unit,
      source: pick(random, sources),
      at: timeOn(random, dayNear(random, today, split, -40)),
    },
    statistic: pick(random, STATISTICS),
    segment: pick(random, segments),
    sample: numberFor(between(random, 24, 480), split),
  }));
}

const spreadOf = (value: number): number => Math.max(3, Math.round(value * 0.3));

/** Value, segment and source of an assumption are each wrong about half of the time. */
export function makeAssumptions(options: RecordOptions, findings: readonly Finding[]): readonly Assumption[] {
  const { random, world, split } = options;
  const segments = findings.map(({ segment }) => segment);
  const sources = findings.map(({ figure }) => figure.source);
  const authors = some(random, world.people, 3);
  return findings.map(({ figure, segment }) => ({
    figure,
    value:
      random.below(2) === 0
        ? figure.value
        : numberFor(
            Math.max(
              3,
              figure.value + pick(random, [-1, 1]) * between(random, 3, spreadOf(figure.value) + 3),
            ),
            split,
          ),
    segment: random.below(2) === 0 ? segment : pick(random, [...segments, ...forSplit(SEGMENTS, split)]),
    source: random.below(2) === 0 ? figure.source : pick(random, [...sources, ...forSplit(SOURCES, split)]),
    by: pick(random, authors).name,
  }));
}

export const makeValidations = (
  { random, world }: RecordOptions,
  assumptions: readonly Assumption[],
): readonly Validation[] =>
  assumptions.map((assumption) => ({
    assumption,
    checks: CHECKS.filter(() => random.below(2) === 0),
    by: pick(
      random,
      world.people.filter(({ name }) => name !== assumption.by),
    ).name,
  }));

/** Ranges that contain the measured value about half of the time. */
export const makeEstimates = (
  { random, world, split }: RecordOptions,
  findings: readonly Finding[],
): readonly Estimate[] =>
  findings.map(({ figure }) => {
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

export const makeCitations = (
  { random, split }: RecordOptions,
  assumptions: readonly Assumption[],
): readonly Citation[] =>
  assumptions.map(({ figure, value }) => ({
    figure,
    value: pick(random, [
      figure.value,
      value,
      numberFor(figure.value + between(random, 3, spreadOf(figure.value) + 3), split),
    ]),
  }));
