import { createRandom, type Random } from '../../../../src/base/random.ts';
import { between, forSplit, numberFor, pick, shuffled, some } from '../draw.ts';
import type { DayFacts, DayWorld, ProjectBudget, Split, World } from '../world.ts';
import { dayNumberOf, momentOn, workdayFrom } from './calendar.ts';
import {
  makeAssumptions,
  makeDeploys,
  makeEstimates,
  makeFigures,
  makeRulings,
  makeTickets,
  type RecordOptions,
} from './make-records.ts';
import { COMPANIES, FAMILY_NAMES, GIVEN_NAMES, PRODUCTS, PROJECTS, ROLES } from './pools.ts';

/** How many days a world has. */
export const WORKDAYS = 14;

/** The prefix of all random streams of a world. */
export const seedOf = (split: Split, seed: number): string => `workdays/${split}/${seed}`;

/** The days of a world, from the easiest to the hardest. */
export function makeDays(split: Split, seed: number): readonly DayFacts[] {
  const name = seedOf(split, seed);
  const world = makeWorld(createRandom(`${name}/world`), split);
  const firstDay = firstDayOf(name);
  return Array.from({ length: WORKDAYS }, (_, index) =>
    makeDay({ world, split, seed: name, index, difficulty: index / (WORKDAYS - 1), firstDay }),
  );
}

const PEOPLE = 8;
const PROJECT_COUNT = 6;

/** A company in which no two people share a given or family name. */
export function makeWorld(random: Random, split: Split): World {
  const given = some(random, forSplit(GIVEN_NAMES, split), PEOPLE);
  const family = shuffled(random, forSplit(FAMILY_NAMES, split));
  const roles = shuffled(random, ROLES);
  return {
    company: pick(random, forSplit(COMPANIES, split)),
    product: pick(random, forSplit(PRODUCTS, split)),
    people: given.map((name, at) => ({ name: `${name} ${family[at] ?? ''}`, role: roles[at] ?? '' })),
    projects: some(random, forSplit(PROJECTS, split), PROJECT_COUNT),
  };
}

interface DayOptions {
  readonly world: World;
  readonly split: Split;
  readonly seed: string;
  /** Counted from 0. */
  readonly index: number;
  /** 0 to 1. */
  readonly difficulty: number;
  /** The day number of the first day. */
  readonly firstDay: number;
}

/** A day from its own random streams, independent of the other days. */
export function makeDay({ world, split, seed, index, difficulty, firstDay }: DayOptions): DayFacts {
  const id = `day${String(index + 1).padStart(2, '0')}`;
  const today = momentOn(dayOf(firstDay, index, split), 8, 30);
  const counting = (what: string, low: number, high: number): RecordOptions => ({
    random: createRandom(`${seed}/${id}/${what}`),
    world,
    split,
    index,
    today,
    count: Math.round(low + (high - low) * difficulty),
  });
  const tickets = makeTickets(counting('tickets', 6, 12));
  const rulings = makeRulings(counting('rulings', 4, 7));
  const figures = makeFigures(counting('findings', 4, 7));
  const day: DayWorld = {
    world,
    index,
    id,
    today,
    decisions: rulings.map(({ decision }) => decision),
    tickets,
    deploys: makeDeploys(counting('deploys', 4, 8), tickets),
    figures,
    difficulty,
  };
  return {
    day,
    rulings,
    assumptions: makeAssumptions(counting('assumptions', 0, 0), figures),
    estimates: makeEstimates(counting('estimates', 0, 0), figures),
    budgets: makeBudgets(counting('budgets', 0, 0)),
  };
}

/** The date of the n-th workday of the split. */
function dayOf(firstDay: number, index: number, split: Split): number {
  let at = workdayFrom(firstDay, split);
  for (let passed = 0; passed < index; passed++) at = workdayFrom(at + 1, split);
  return at;
}

const makeBudgets = ({ random, world, split }: RecordOptions): readonly ProjectBudget[] =>
  world.projects.map((project) => {
    const planned = numberFor(between(random, 8_000, 64_000), split);
    return { project, planned, spent: numberFor(Math.round(planned * (0.5 + random.next() * 0.8)), split) };
  });

/** A world's first day, anywhere in twelve years, so that two seeds rarely share a date. */
const firstDayOf = (seed: string): number =>
  dayNumberOf({ year: 2021, month: 1, day: 4, hour: 0, minute: 0 }) +
  createRandom(`${seed}/calendar`).below(12 * 365);
