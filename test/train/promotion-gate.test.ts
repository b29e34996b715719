import { describe, expect, it } from 'vitest';
import {
  DEFAULT_PROMOTION,
  isInCanary,
  type PromotionEvent,
  pointerOf,
  promote,
} from '../../train/promotion.ts';
import { type CheckpointMoved, type PromotionState, startPromotion } from '../../train/promotion-stages.ts';
import type { TrialSuite } from '../../train/trial-evidence.ts';
import { planTrial } from '../../train/trial-plan.ts';

const bare = { version: 0, sampler: undefined };
const ENOUGH = 200;

function tell(events: readonly PromotionEvent[], from: PromotionState = startPromotion(bare)) {
  let state = from;
  const facts: CheckpointMoved[] = [];
  for (const event of events) {
    const next = promote(state, event);
    state = next.state;
    facts.push(...next.facts);
  }
  return { state, facts, moves: facts.map(({ version, to }) => `${version} ${to}`) };
}

const proposed = (
  version: number,
  more: { clusters?: number; isRegressed?: boolean } = {},
): PromotionEvent => ({
  type: 'proposed',
  served: { version, sampler: `path-${version}` },
  clusters: ENOUGH,
  ...more,
});
const pair = (
  version: number,
  root: string,
  place: number,
  grades: readonly [number, number],
  suite: TrialSuite = 'tasks',
): PromotionEvent => ({
  type: 'pair-scored',
  version,
  ...{ pair: `${version}/${root}/${place}`, root, suite },
  ...{ candidate: grades[0], live: grades[1] },
});
/** Whole clusters, with as many pairs as a trial on `ENOUGH` of them plans. */
const REPEATS = planTrial(ENOUGH, 0.05, DEFAULT_PROMOTION).repeats;
const clusters = (
  version: number,
  count: number,
  grades: readonly [number, number],
  suite: TrialSuite = 'tasks',
): readonly PromotionEvent[] =>
  Array.from({ length: count }, (_, at) =>
    Array.from({ length: suite === 'regression' ? 1 : REPEATS }, (_pair, place) =>
      pair(version, `${suite}-${at}`, place, grades, suite),
    ),
  ).flat();
/** Keeps a rule without its lesson. */
const remembering = (version: number): PromotionEvent => ({
  type: 'proposed',
  served: {
    version,
    sampler: `path-${version}`,
    remembers: { at: 1, rules: [{ lesson: 'iso', revision: 1 }] },
  },
  clusters: ENOUGH,
});
const out = (version: number): PromotionEvent => ({ type: 'measured-out', version });
const toCanary = (version: number): readonly PromotionEvent[] => [
  proposed(version),
  ...clusters(version, 20, [1, 0]),
];

describe('a trial of weights that keep a rule without its lesson', () => {
  it('is passed by being as good as the live version, which is shown the lesson; others must be better', () => {
    const alike = clusters(1, 100, [1, 1]);
    const { moves, facts } = tell([remembering(1), ...alike]);
    expect(moves).toEqual(['1 candidate', '1 canary']);
    expect(facts.at(-1)?.why).toMatch(
      /^less than 10.0 points worse on \d+ tasks of the user, without the lessons of a rule that it remembers$/,
    );
    expect(tell([proposed(1), ...alike, out(1)]).moves).toEqual(['1 candidate', '1 rejected']);
  });

  it('is not passed where the answers are worse without it', () => {
    const mixed = Array.from({ length: 100 }, (_, at) =>
      Array.from({ length: REPEATS }, (_pair, place) =>
        pair(1, `m-${at}`, place, at % 4 === 0 ? [0, 1] : [1, 1]),
      ),
    ).flat();
    expect(tell([remembering(1), ...mixed, out(1)]).moves).toEqual(['1 candidate', '1 rejected']);
  });

  it('begins anew with the next version: what the live one keeps already is no gain', () => {
    const { state } = tell([remembering(1), ...clusters(1, 100, [1, 1])]);
    const live = tell([{ type: 'person-promoted' }], state).state;
    expect(live.live.remembers?.rules).toHaveLength(1);
    expect(tell([remembering(2), ...clusters(2, 100, [1, 1]), out(2)], live).moves).toEqual([
      '2 candidate',
      '2 rejected',
    ]);
  });
});

describe('a trial of weights', () => {
  it('is not opened with too few tasks, says how many it needs, and costs nothing', () => {
    const { state, facts } = tell([proposed(1, { clusters: 40 })]);
    expect(facts).toMatchObject([{ version: 1, to: 'not-tried' }]);
    expect(facts[0]?.why).toMatch(
      /^about \d+ tasks needed to show an improvement of 20 points, 40 there: not tried$/,
    );
    const needed = Number(/about (\d+)/.exec(facts[0]?.why ?? '')?.[1]);
    expect(needed).toBeGreaterThan(60);
    expect(needed).toBeLessThan(200);
    expect(state).toEqual(startPromotion(bare));
    expect(tell([proposed(1, { clusters: 400 })]).moves).toEqual(['1 candidate']);
  });

  it('needs fewer tasks for a larger effect, and more at a stricter level', () => {
    const needed = (level: number, effect: number): number =>
      planTrial(100, level, { ...DEFAULT_PROMOTION, effect }).needed;
    expect(needed(0.01, 0.3)).toBeLessThan(needed(0.01, 0.2));
    expect(needed(0.001, 0.2)).toBeGreaterThan(needed(0.01, 0.2));
  });

  it('plans with the variance of the trial before it', () => {
    // Every task of the first trial differs by the same: the next one needs fewer tasks than the prior asks for.
    const { state } = tell([proposed(1), ...clusters(1, 60, [0.5, 0.5]), out(1)]);
    expect(state.spread).toMatchObject({ clusters: 60, variance: 0 });
    const { needed } = planTrial(60, 0.05, DEFAULT_PROMOTION);
    expect(needed).toBeGreaterThan(60);
    expect(tell([proposed(2, { clusters: 60 })], state).moves).toEqual(['2 candidate']);
  });

  it('counts all pairs of one origin as one observation, whatever their number', () => {
    expect(REPEATS).toBeGreaterThan(1);
    // As many pairs as ten clusters have, all of one task.
    const same = Array.from({ length: 10 * REPEATS }, (_, place) => pair(1, 'one', place, [1, 0]));
    const { state, moves } = tell([proposed(1), ...same]);
    expect(moves).toEqual(['1 candidate']);
    expect(state.trial?.differences).toMatchObject({ n: 1, sum: 1 });
    expect(state.trial?.roots).toEqual(['task/one']);
  });

  it('asks for better on tasks and no worse on general questions', () => {
    const better = [proposed(1, { isRegressed: true }), ...clusters(1, 20, [1, 0])];
    const asked = (grades: readonly [number, number], count = 400) =>
      tell([...better, ...clusters(1, count, grades, 'regression'), out(1)]);
    expect(tell(better).moves).toEqual(['1 candidate']);
    const kept = asked([1, 1]);
    expect(kept.moves).toEqual(['1 candidate', '1 canary']);
    expect(kept.facts[1]?.why).toMatch(
      /^better on \d+ tasks of the user: .*; less than 5\.0 points worse on 400/,
    );
    const lost = asked([0, 1]);
    expect(lost.moves).toEqual(['1 candidate', '1 rejected']);
    expect(lost.facts[1]).toMatchObject({ isWorse: true });
    // Nothing differs, and still too few questions were asked to know.
    expect(asked([1, 1], 10).moves).toEqual(['1 candidate', '1 rejected']);
  });

  it('says that a regression suite without a single right answer shows nothing', () => {
    const events = [proposed(1, { isRegressed: true }), ...clusters(1, 20, [1, 0])];
    const { facts } = tell([...events, ...clusters(1, 96, [0, 0], 'regression'), out(1)]);
    expect(facts.at(-1)?.why).toContain('the live version answers none of 96 general questions');
  });

  it('does not count questions before the tasks have decided, nor tasks after that', () => {
    const early = tell([
      proposed(1, { isRegressed: true }),
      ...clusters(1, 96, [1, 1], 'regression'),
      out(1),
    ]);
    expect(early.moves).toEqual(['1 candidate', '1 rejected']);
    const late = tell([proposed(1, { isRegressed: true }), ...clusters(1, 80, [1, 0])]);
    expect(late.state.trial?.differences.n).toBeLessThan(80);
  });
});

describe('a canary', () => {
  it('serves on while a newer checkpoint is measured, which replaces it when it passes', () => {
    const waiting = tell([...toCanary(1), proposed(2)]);
    expect(waiting.moves).toEqual(['1 candidate', '1 canary', '2 candidate']);
    expect(pointerOf(waiting.state, DEFAULT_PROMOTION).canary?.served.version).toBe(1);
    const { state, facts } = tell(clusters(2, 20, [1, 0]), waiting.state);
    expect(facts).toMatchObject([
      { version: 1, from: 'canary', to: 'replaced' },
      { version: 2, from: 'candidate', to: 'canary' },
    ]);
    expect(facts[0]?.why).toContain('version 2 is newer and passed, too');
    expect(state.trial).toMatchObject({ served: { version: 2 }, sessions: [] });
    expect(state.waiting).toBeUndefined();
  });

  it('goes on being judged when the newer checkpoint does not pass, each by its own evidence', () => {
    const session: PromotionEvent = { type: 'session-scored', session: 'a', score: 1 };
    const before = tell([...toCanary(1), session, proposed(2)]).state;
    const during = tell([{ ...session, session: 'b' }, ...clusters(2, 5, [1, 1])], before).state;
    expect(during.waiting?.sessions).toEqual(['a', 'b']);
    expect(during.trial).toMatchObject({ served: { version: 2 }, sessions: [], differences: { n: 5 } });
    const { state, moves } = tell([out(2)], during);
    expect(moves).toEqual(['2 rejected']);
    expect(state.trial).toMatchObject({ served: { version: 1 }, stage: 'canary', sessions: ['a', 'b'] });
  });

  it('goes live by replayed requests where sessions are few, and is rolled back by them', () => {
    const canary = tell(toCanary(1)).state;
    const well = tell(clusters(1, 60, [1, 1], 'replay'), canary);
    expect(well.moves).toEqual(['1 live']);
    expect(well.facts[0]?.why).toMatch(/^less than 10\.0 points worse on \d+ recorded requests$/);
    expect(tell(clusters(1, 60, [0, 1], 'replay'), canary).moves).toEqual(['1 rolled-back']);
  });

  it('is not replayed on what its measurement has used: that would count twice', () => {
    const canary = tell(toCanary(1)).state;
    const used = Array.from({ length: 20 }, (_, at) => pair(1, `tasks-${at}`, 9, [1, 0], 'replay'));
    const closed = canary.trial?.roots?.length ?? 0;
    expect(closed).toBeGreaterThan(5);
    expect(tell(used.slice(0, closed), canary).state).toEqual(canary);
  });

  it('does not go live after 30 sessions alone: it must be shown to be less than the margin worse', () => {
    const scores = (count: number, good: number): readonly PromotionEvent[] =>
      Array.from({ length: count }, (_, at) => ({
        type: 'session-scored',
        session: `s${at}`,
        score: at % good ? 1 : 0,
      }));
    const canary = tell(toCanary(1)).state;
    const some = tell(scores(350, 2), canary);
    expect(some.state.trial?.canary.n).toBeGreaterThanOrEqual(DEFAULT_PROMOTION.canarySessions);
    expect(some.moves).toEqual([]);
  });

  it('that goes live ends the trial of a newer checkpoint, which was compared with the version before', () => {
    const before = tell([...toCanary(1), proposed(2)]).state;
    const { moves, state } = tell(clusters(1, 60, [1, 1], 'replay'), before);
    expect(moves).toEqual(['2 rejected', '1 live']);
    expect(state).toMatchObject({ live: { version: 1 }, previous: bare, trial: undefined });
    expect(state.waiting).toBeUndefined();
    expect(tell([proposed(2)], state).moves).toEqual(['2 candidate']);
  });

  it('leaves with the candidate by one command of a person; again, the live version leaves', () => {
    const back = { type: 'person-rolled-back' } as const;
    const both = tell([...toCanary(1), proposed(2), back]);
    expect(both.moves.slice(-2)).toEqual(['2 rejected', '1 rolled-back']);
    expect(pointerOf(both.state, DEFAULT_PROMOTION)).toEqual({ live: bare });
    const live = tell([...toCanary(1), { type: 'person-promoted' }]).state;
    expect(live.live.version).toBe(1);
    expect(tell([back], live).moves).toEqual(['1 rolled-back']);
    expect(tell([back], live).state.live).toEqual(bare);
  });

  it('that waits is rolled back by failed probes, and the candidate is measured on', () => {
    const before = tell([...toCanary(1), proposed(2)]).state;
    const probe: PromotionEvent = { type: 'probed', version: 1, isWell: false };
    const { moves, state } = tell([probe, probe], before);
    expect(moves).toEqual(['1 rolled-back']);
    expect(state).toMatchObject({ trial: { served: { version: 2 }, stage: 'candidate' } });
    expect(pointerOf(state, DEFAULT_PROMOTION)).toEqual({ live: bare });
  });
});

describe('states that an earlier version wrote', () => {
  const old = { differences: { n: 0, sum: 0, squares: 0, cubes: 0 }, pairs: [], sessions: [], failed: 0 };
  const none = { n: 0, sum: 0, squares: 0, cubes: 0 };
  it('fold on: a candidate without a plan gets one, and a canary without replays is judged', () => {
    const served = { version: 3, sampler: 'path-3' };
    const candidate: PromotionState = {
      ...startPromotion(bare),
      trial: { served, stage: 'candidate', ...old, canary: none, rest: none },
    };
    const planned = tell([proposed(3)], candidate);
    expect(planned.moves).toEqual([]);
    expect(planned.state.trial?.plan).toEqual({ repeats: REPEATS, isRegressed: false });
    expect(tell(clusters(3, 20, [1, 0]), planned.state).moves).toEqual(['3 canary']);
    const canary: PromotionState = {
      ...startPromotion(bare),
      trial: { served, stage: 'canary', ...old, canary: none, rest: none },
    };
    const replayed = Array.from({ length: 60 }, (_, at) => pair(3, `r${at}`, 0, [1, 1], 'replay'));
    expect(tell(replayed, canary).moves).toEqual(['3 live']);
    const name = Array.from({ length: 99 }, (_, at) => `x${at}`).find((one) => isInCanary(one, 3, 0.1)) ?? '';
    const session: PromotionEvent = { type: 'session-scored', session: name, score: 1 };
    expect(tell([session], canary).state.trial?.canary.n).toBe(1);
  });
});
