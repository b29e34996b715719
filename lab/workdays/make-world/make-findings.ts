import { between, pick, some } from '../draw.ts';
import { forSplit, numberFor } from '../splits.ts';
import {
  type Assumption,
  CHECKS,
  type Citation,
  type Estimate,
  type Finding,
  type Statistic,
  type Validation,
} from './day-facts.ts';
import { dayNear, type RecordOptions, timeOn } from './make-records.ts';
import { METRICS, SEGMENTS, SOURCES } from './pools.ts';

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

const near = (value: number): number => Math.max(3, Math.round(value * 0.3));

/** The sheet goes wrong in three ways, each about as often as not: another value, another segment, another source. */
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
            Math.max(3, figure.value + pick(random, [-1, 1]) * between(random, 3, near(figure.value) + 3)),
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

/** Ranges that hold the measured value about as often as they miss it. */
export const makeEstimates = (
  { random, world, split }: RecordOptions,
  findings: readonly Finding[],
): readonly Estimate[] =>
  findings.map(({ figure }) => {
    const width = near(figure.value);
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
      numberFor(figure.value + between(random, 3, near(figure.value) + 3), split),
    ]),
  }));
