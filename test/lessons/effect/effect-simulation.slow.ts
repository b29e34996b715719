import { describe, expect, it, vi } from 'vitest';
import { createRandom, type Random } from '../../../src/base/random.ts';
import type { Author } from '../../../src/core/lesson.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { effectVerdict } from '../../../src/lessons/effect/measure-effect.ts';
import { retireHarmful } from '../../../src/lessons/effect/retire-harmful.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../../src/stats/moments.ts';
import { countOf } from '../../support/counts.ts';
import { lessonOf, scored } from './sample-lessons.ts';

/** Hundreds of thousands of tests: seconds on an idle machine. */
vi.setConfig({ testTimeout: 240_000 });

const ALPHA = 0.05;
const SESSIONS = 1500;
const LESSONS = countOf(80, 200);
const BY: Author = { kind: 'instar', name: 'measured effect' };

/** Success or failure. */
const coin = (random: Random, mean: number): number => (random.next() < mean ? 1 : 0);
/** The fraction of four checks that pass. */
const grade = (random: Random, mean: number): number =>
  [1, 2, 3, 4].reduce((sum) => sum + coin(random, mean) / 4, 0);

interface World {
  readonly draw: (random: Random, mean: number) => number;
  /** Mean score without the lesson, for times from 0 to 1. */
  readonly base: (time: number) => number;
  readonly effect: number;
  readonly holdout: number;
}

/** The number of sessions until a lesson is retired; undefined when it is not. */
function retiredAfter({ draw, base, effect, holdout }: World, seed: string): number | undefined {
  const random = createRandom(seed);
  let shown = EMPTY_MOMENTS;
  let without = EMPTY_MOMENTS;
  for (let session = 1; session <= SESSIONS; session++) {
    const mean = base(session / SESSIONS);
    if (random.next() < holdout) without = addToMoments(without, draw(random, mean));
    else shown = addToMoments(shown, draw(random, mean + effect));
    if (effectVerdict({ with: shown, without }, ALPHA) === 'harmful') return session;
  }
  return undefined;
}

const times = (world: World, runs: number): readonly number[] =>
  Array.from(
    { length: runs },
    (_, run) => retiredAfter(world, `${JSON.stringify(world)}/${run}`) ?? Infinity,
  ).sort((one, other) => one - other);
const shareWithin = (sorted: readonly number[], sessions: number): number =>
  sorted.filter((time) => time <= sessions).length / sorted.length;

describe(`${LESSONS} lessons, measured after each of 1,500 sessions`, () => {
  it('are wrongly retired in at most 5 % when they have no effect, through facts, fold and change set', () => {
    const lessons = Array.from({ length: LESSONS }, (_, at) => lessonOf(`l${at}`));
    const random = createRandom('nothing');
    const effects = createLessonEffects();
    const retired = new Set<string>();
    for (let session = 1; session <= SESSIONS; session++) {
      const shown: string[] = [];
      const heldOut: string[] = [];
      for (const { id } of lessons)
        (createRandom(`s${session}/${id}`).next() < 0.1 ? heldOut : shown).push(id);
      effects.add(scored(session, `s${session}`, coin(random, 0.6), shown, heldOut));
      const set = retireHarmful({ effects, library: { lessons: () => lessons, history: () => [] }, by: BY });
      for (const change of set?.changes ?? []) if (change.op === 'retire') retired.add(change.id);
    }
    expect(retired.size / lessons.length).toBeLessThanOrEqual(ALPHA);
  });

  it('are wrongly retired in at most 5 % when each helps by 0.05', () => {
    const world = { draw: coin, base: () => 0.6, effect: 0.05, holdout: 0.1 };
    expect(shareWithin(times(world, LESSONS), SESSIONS)).toBeLessThanOrEqual(ALPHA);
  });
});

/** No guarantee covers this case, since the means change; but sessions are assigned to both arms at random. */
it('a lesson without an effect is not retired while all scores fall from 0.9 to 0.1', () => {
  const world = { draw: coin, base: (time: number) => 0.9 - 0.8 * time, effect: 0, holdout: 0.1 };
  expect(shareWithin(times(world, countOf(50, 100)), SESSIONS)).toBeLessThanOrEqual(ALPHA);
});

/**
 * Base 0.7. Sessions until half, and until 80 %, of the lessons are retired, in 400 runs each:
 *   success or failure   −0.15: 1,157 and never (66 % by 1,500) with a hold-out of 0.1; 520 and 839 with 0.3
 *                        −0.3:  261 and 446 with 0.1; 116 and 202 with 0.3
 *   four checks each     −0.15: 335 and 499 with 0.1; 132 and 199 with 0.3
 *                        −0.3:  115 and 159 with 0.1; 48 and 65 with 0.3
 */
describe('a harmful lesson is retired', () => {
  const cases = [
    { scores: 'success or failure', draw: coin, effect: -0.15, holdout: 0.1, within: 1500, share: 0.5 },
    { scores: 'success or failure', draw: coin, effect: -0.15, holdout: 0.3, within: 1000, share: 0.75 },
    { scores: 'success or failure', draw: coin, effect: -0.3, holdout: 0.1, within: 600, share: 0.75 },
    { scores: 'success or failure', draw: coin, effect: -0.3, holdout: 0.3, within: 300, share: 0.85 },
    { scores: 'four checks', draw: grade, effect: -0.15, holdout: 0.1, within: 700, share: 0.8 },
    { scores: 'four checks', draw: grade, effect: -0.15, holdout: 0.3, within: 300, share: 0.85 },
    { scores: 'four checks', draw: grade, effect: -0.3, holdout: 0.1, within: 220, share: 0.85 },
    { scores: 'four checks', draw: grade, effect: -0.3, holdout: 0.3, within: 100, share: 0.9 },
  ];
  it.each(cases)(
    'of $effect with a hold-out of $holdout within $within sessions in over $share of the runs ($scores)',
    ({ draw, effect, holdout, within, share }) => {
      const sorted = times({ draw, base: () => 0.7, effect, holdout }, 60);
      expect(shareWithin(sorted, within)).toBeGreaterThan(share);
    },
  );
});
