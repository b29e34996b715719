import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lowerBound } from '../../src/stats/confidence-sequence.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../src/stats/moments.ts';
import type { PromotionEvent } from '../../train/promotion.ts';
import {
  DEFAULT_PROMOTION,
  isInCanary,
  type PromotionSettings,
  pointerOf,
  promote,
  versionForSession,
} from '../../train/promotion.ts';
import type { CheckpointMoved, PromotionStage } from '../../train/promotion-stages.ts';
import { canaryOf, type PromotionState, startPromotion } from '../../train/promotion-stages.ts';
import { runsOf } from '../support/counts.ts';

const bare = { version: 0, sampler: undefined };
const served = (version: number) => ({ version, sampler: `path-${version}` });
const SMALL: PromotionSettings = {
  ...DEFAULT_PROMOTION,
  fewestTasks: 5,
  canaryShare: 0.5,
  canaryMargin: 0.6,
  canarySessions: 4,
};

/** All events in turn, with everything that is to be written. */
function tell(events: readonly PromotionEvent[], from = startPromotion(bare), settings = SMALL) {
  let state = from;
  const facts: CheckpointMoved[] = [];
  for (const event of events) {
    const next = promote(state, event, settings);
    state = next.state;
    facts.push(...next.facts);
  }
  return { state, facts, stages: facts.map(({ to }) => to), pointer: pointerOf(state, settings) };
}

const proposed = (version: number): PromotionEvent => ({ type: 'proposed', served: served(version) });
const pair = (version: number, at: number, candidate: number, live: number): PromotionEvent => ({
  type: 'pair-scored',
  version,
  pair: `${version}/${at}`,
  candidate,
  live,
});
const pairs = (version: number, count: number, candidate: number, live: number): readonly PromotionEvent[] =>
  Array.from({ length: count }, (_, at) => pair(version, at, candidate, live));
const sessions = (count: number, score: (session: string) => number): readonly PromotionEvent[] =>
  Array.from({ length: count }, (_, at) => ({
    type: 'session-scored',
    session: `s${at}`,
    score: score(`s${at}`),
  }));
const probe = (version: number, isWell: boolean): PromotionEvent => ({ type: 'probed', version, isWell });
const toCanary = (version: number): readonly PromotionEvent[] => [
  proposed(version),
  ...pairs(version, 20, 1, 0),
];
const toLive = (version: number): readonly PromotionEvent[] => [
  ...toCanary(version),
  ...sessions(20, () => 1),
];

describe('a checkpoint', () => {
  it('goes live after held-out tasks and a canary share of sessions', () => {
    const { stages, pointer, state } = tell(toLive(1));
    expect(stages).toEqual(['candidate', 'canary', 'live']);
    expect(pointer).toEqual({ live: served(1) });
    expect(state.previous).toEqual(bare);
  });

  it('is not promoted with too few tasks, however good they look', () => {
    expect(tell([proposed(1), ...pairs(1, 9, 1, 0)], undefined, DEFAULT_PROMOTION).stages).toEqual([
      'candidate',
    ]);
    expect(tell([proposed(1), ...pairs(1, 10, 1, 0)], undefined, DEFAULT_PROMOTION).stages).toEqual([
      'candidate',
      'canary',
    ]);
  });

  it('is rejected when it is worse, and when the tasks are used up without a decision (not: passed as no worse)', () => {
    const worse = tell([proposed(1), ...pairs(1, 20, 0, 1)]);
    expect(worse.stages).toEqual(['candidate', 'rejected']);
    expect(worse.facts[1]?.why).toContain('worse by more than 2.0 points');
    const equal = [proposed(1), ...pairs(1, 200, 1, 1)];
    expect(tell(equal).stages).toEqual(['candidate']);
    const unclear = tell([...equal, { type: 'measured-out', version: 1 }]);
    expect(unclear.stages).toEqual(['candidate', 'rejected']);
    expect(unclear.facts[1]?.why).toContain('not shown to be better on 200 tasks');
    expect(unclear.facts[1]?.isWorse).toBeUndefined();
    expect(unclear.pointer).toEqual({ live: bare });
  });

  it('counts a task once, however often its result is reported', () => {
    const again = Array.from({ length: 100 }, () => pair(1, 0, 1, 0));
    expect(tell([proposed(1), ...again]).stages).toEqual(['candidate']);
  });

  it('is rolled back from the canary when its sessions are worse, without ever being live', () => {
    const events = [...toCanary(1), ...sessions(60, (id) => (isInCanary(id, 1, 0.5) ? 0 : 1))];
    const { stages, facts, pointer } = tell(events, undefined, { ...SMALL, canarySessions: 30 });
    expect(stages).toEqual(['candidate', 'canary', 'rolled-back']);
    expect(facts.at(-1)?.why).toContain('worse in');
    expect(pointer).toEqual({ live: bare });
  });

  it.each([
    ['a candidate', [proposed(1)], 'rejected', bare],
    ['a canary', toCanary(1), 'rolled-back', bare],
    ['the live one', toLive(1), 'rolled-back', bare],
  ] as const)('%s goes when two probes in a row fail, not when one does', (_, before, end, live) => {
    const start = tell(before).state;
    expect(tell([probe(1, false), probe(1, true), probe(1, false)], start).facts).toEqual([]);
    const { facts, pointer } = tell([probe(1, false), probe(1, false)], start);
    expect(facts).toMatchObject([{ to: end, by: 'probe' }]);
    expect(pointer).toEqual({ live });
  });

  it('ends the trial against it when it is rolled back from live', () => {
    const { facts, state } = tell([...toLive(1), proposed(2), probe(1, false), probe(1, false)]);
    expect(facts.slice(-2)).toMatchObject([
      { version: 2, to: 'rejected' },
      { version: 1, from: 'live', to: 'rolled-back' },
    ]);
    expect(state).toEqual(startPromotion(bare));
  });

  it('is rejected by name while another is on trial', () => {
    const { facts } = tell([proposed(1), proposed(2)]);
    expect(facts[1]).toMatchObject({ version: 2, to: 'rejected', why: 'version 1 is already on trial' });
  });

  it('is moved by a person one stage at a time, and the move names the person', () => {
    const person = { type: 'person-promoted' } as const;
    const { facts } = tell([proposed(1), person, person, { type: 'person-rolled-back' }]);
    expect(facts.map(({ to, by }) => `${to} ${by}`)).toEqual([
      'candidate measurement',
      'canary person',
      'live person',
      'rolled-back person',
    ]);
  });
});

describe('the pointer', () => {
  it('gives a session the same weights while it does not move, and a tenth of sessions the canary', () => {
    const pointer = pointerOf(tell(toCanary(1)).state, DEFAULT_PROMOTION);
    const chosen = Array.from({ length: 4000 }, (_, at) => versionForSession(pointer, `session-${at}`));
    expect(chosen).toEqual(
      Array.from({ length: 4000 }, (_, at) => versionForSession(pointer, `session-${at}`)),
    );
    const share = chosen.filter(({ version }) => version === 1).length / 4000;
    expect(share).toBeGreaterThan(0.08);
    expect(share).toBeLessThan(0.12);
  });

  it('chooses other sessions for the next version', () => {
    const names = Array.from({ length: 4000 }, (_, at) => `session-${at}`);
    const both = names.filter((name) => isInCanary(name, 1, 0.1) && isInCanary(name, 2, 0.1));
    expect(both.length).toBeLessThan(80);
  });

  it('is read once by a running stream, whose version does not change when the pointer moves', () => {
    const before = tell(toCanary(1));
    const session =
      Array.from({ length: 99 }, (_, at) => `x${at}`).find((name) => isInCanary(name, 1, 0.5)) ?? '';
    const stream = versionForSession(before.pointer, session);
    const after = tell([{ type: 'person-rolled-back' }], before.state);
    expect(stream).toEqual(served(1));
    expect(versionForSession(after.pointer, session)).toEqual(bare);
  });
});

/** From where a checkpoint may go where. */
const ALLOWED: readonly (readonly [PromotionStage | undefined, PromotionStage])[] = [
  [undefined, 'candidate'],
  [undefined, 'rejected'],
  [undefined, 'not-tried'],
  ['candidate', 'canary'],
  ['candidate', 'rejected'],
  ['canary', 'live'],
  ['canary', 'rolled-back'],
  ['canary', 'replaced'],
  ['live', 'rolled-back'],
];

describe('any sequence of events', () => {
  const LONG = { ...SMALL, canarySessions: 12 };
  const score = fc.constantFrom(0, 1, 1, 1);
  const burst = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('next' as const) },
    {
      weight: 6,
      arbitrary: fc.constantFrom('good-pairs' as const, 'good-canary' as const, 'bad-canary' as const),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        pairs: fc.array(fc.tuple(fc.nat({ max: 40 }), score, fc.constantFrom(0, 0, 0, 1)), { maxLength: 25 }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ sessions: fc.array(fc.tuple(fc.nat({ max: 60 }), score), { maxLength: 25 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        probes: fc.array(fc.constantFrom(true, false, false), { minLength: 1, maxLength: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom('person-promoted' as const, 'person-rolled-back' as const) },
  );

  /** So that no stage is left to luck. */
  const begun = fc.constantFrom(
    [],
    ['next' as const],
    ['next' as const, 'good-pairs' as const],
    ['next' as const, 'good-pairs' as const, 'good-canary' as const],
  );

  /** Pairs, sessions and probes are of the version that was proposed last. */
  const eventsOf = (
    bursts: readonly (typeof burst extends fc.Arbitrary<infer T> ? T : never)[],
  ): readonly PromotionEvent[] => {
    let latest = 0;
    return bursts.flatMap((each): readonly PromotionEvent[] => {
      if (each === 'next') return [proposed(++latest)];
      if (each === 'good-pairs') return pairs(latest, 15, 1, 0);
      if (each === 'good-canary') return sessions(40, () => 1);
      if (each === 'bad-canary') return sessions(60, (name) => (isInCanary(name, latest, 0.5) ? 0 : 1));
      if (typeof each === 'string') return [{ type: each }];
      if ('pairs' in each)
        return each.pairs.map(([at, candidate, live]) => pair(latest, at, candidate, live));
      if ('sessions' in each)
        return each.sessions.map(([at, value]) => ({
          type: 'session-scored',
          session: `${latest}/${at}`,
          score: value,
        }));
      return each.probes.map((isWell) => probe(latest, isWell));
    });
  };

  it('keeps the order of stages, makes nothing live unmeasured, and ignores repeated events', () => {
    const reached = new Map<string, number>();
    fc.assert(
      fc.property(begun, fc.array(burst, { maxLength: 20 }), (start, bursts) => {
        const stages = new Map<number, PromotionStage>([[0, 'live']]);
        const seen = new Map<string, number>();
        let state: PromotionState = startPromotion(bare);
        for (const event of eventsOf([...start, ...bursts])) {
          const before = state;
          const trial = before.trial;
          const { state: after, facts } = promote(before, event, LONG);
          if (
            event.type === 'pair-scored' &&
            trial?.stage === 'candidate' &&
            trial.served.version === event.version
          )
            seen.set(event.pair, seen.get(event.pair) ?? event.candidate - event.live);
          for (const { version: moved, from, to, by } of facts) {
            expect(ALLOWED).toContainEqual([from, to]);
            expect(stages.get(moved)).toBe(from);
            reached.set(`${to} by ${by}`, (reached.get(`${to} by ${by}`) ?? 0) + 1);
            stages.set(moved, to);
            if (to === 'canary' && by === 'measurement') {
              const own = [...seen]
                .filter(([name]) => name.startsWith(`${moved}/`))
                .map(([, difference]) => difference);
              expect(own.length).toBeGreaterThanOrEqual(LONG.fewestTasks);
              const low = lowerBound(own.reduce(addToMoments, EMPTY_MOMENTS), {
                range: { low: -1, high: 1 },
              });
              expect(low).toBeGreaterThanOrEqual(-1e-6);
            }
          }
          if (facts.length === 0) expect(pointerOf(after, LONG)).toEqual(pointerOf(before, LONG));
          if (facts.length === 0 && (event.type === 'pair-scored' || event.type === 'session-scored'))
            expect(promote(after, event, LONG).state).toBe(after);
          expect(stages.get(after.live.version)).toBe('live');
          if (after.trial !== undefined)
            expect(stages.get(after.trial.served.version)).toBe(after.trial.stage);
          if (after.waiting !== undefined) {
            expect(after.trial?.stage).toBe('candidate');
            expect(stages.get(after.waiting.served.version)).toBe('canary');
          }
          expect(pointerOf(after, LONG).canary?.served).toEqual(canaryOf(after)?.served);
          expect([...stages.values()].filter((stage) => stage === 'canary')).toHaveLength(
            canaryOf(after) === undefined ? 0 : 1,
          );
          state = after;
        }
      }),
      runsOf(130, 400),
    );
    for (const end of [
      'canary by measurement',
      'live by measurement',
      'rejected by measurement',
      'rolled-back by measurement',
      'rolled-back by probe',
      'rolled-back by person',
      'replaced by measurement',
    ])
      expect(reached.get(end) ?? 0, end).toBeGreaterThan(0);
  });
});
