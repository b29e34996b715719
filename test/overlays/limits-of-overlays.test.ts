import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ActiveOverlay, LimitOverlay } from '../../src/core/overlay.ts';
import { RESPONSE_CHECKS } from '../../src/core/overlay.ts';
import { floorsOf, type LimitFloors, withinFloors } from '../../src/lessons/limit-floors.ts';
import { limitsOfOverlays } from '../../src/overlays/active-overlays.ts';

const FIELDS = ['retries', 'headersMs', 'idleMs'] as const;
const wait = fc.integer({ min: 100, max: 3_600_000 });

const payload: fc.Arbitrary<LimitOverlay> = fc.record(
  {
    type: fc.constant('validator_policy_tweak' as const),
    retries: fc.integer({ min: 0, max: 5 }),
    headersMs: wait,
    idleMs: wait,
    checks: fc.uniqueArray(fc.constantFrom(...RESPONSE_CHECKS)),
    reasks: fc.integer({ min: 0, max: 2 }),
    lessons: fc.integer({ min: 0, max: 6 }),
  },
  { requiredKeys: ['type'] },
);
const overlay = (
  isApproved: fc.Arbitrary<boolean>,
  isLearned: fc.Arbitrary<boolean> = fc.boolean(),
): fc.Arbitrary<ActiveOverlay<LimitOverlay>> =>
  fc.record({
    lesson: fc.string(),
    name: fc.string(),
    revision: fc.constant(1),
    state: fc.constantFrom('trial' as const, 'live' as const),
    payload,
    isApproved,
    isLearned,
  });
const settings = fc.record({ retries: fc.integer({ min: 0, max: 10 }), headersMs: wait, idleMs: wait });
const floors: fc.Arbitrary<LimitFloors | undefined> = fc.option(
  fc.record({
    headersMs: fc.integer({ min: 30_000, max: 900_000 }),
    idleMs: fc.integer({ min: 30_000, max: 900_000 }),
  }),
  { nil: undefined },
);
const limit = (more: Partial<ActiveOverlay<LimitOverlay>>): ActiveOverlay<LimitOverlay> => ({
  ...{ lesson: 'l', name: 'l', revision: 1, state: 'live', isApproved: false },
  payload: { type: 'validator_policy_tweak' },
  ...more,
});

describe('the limits of several overlays', () => {
  it('are never looser than the settings where no person approved one', () => {
    fc.assert(
      fc.property(fc.array(overlay(fc.constant(false))), settings, floors, (overlays, inForce, least) => {
        const limits = limitsOfOverlays(overlays, inForce, least);
        for (const field of FIELDS)
          expect(limits?.[field] ?? inForce[field]).toBeLessThanOrEqual(inForce[field]);
      }),
    );
  });

  it('are never looser than any overlay that may count, and only tighten as overlays join', () => {
    fc.assert(
      fc.property(
        fc.array(overlay(fc.boolean()), { minLength: 1 }),
        overlay(fc.boolean()),
        settings,
        floors,
        (overlays, one, inForce, least) => {
          const before = limitsOfOverlays(overlays, inForce, least);
          const after = limitsOfOverlays([...overlays, one], inForce, least);
          for (const field of [...FIELDS, 'lessons', 'reasks'] as const) {
            const was = before?.[field];
            if (was !== undefined) expect(after?.[field]).toBeLessThanOrEqual(was);
          }
          for (const check of before?.checks ?? []) expect(after?.checks).toContain(check);
        },
      ),
    );
  });

  it('may be looser where a person approved one', () => {
    const loose = limit({ payload: { type: 'validator_policy_tweak', retries: 5 }, isApproved: true });
    const inForce = { retries: 2, headersMs: 1000, idleMs: 1000 };
    expect(limitsOfOverlays([loose], inForce, undefined)).toEqual({ retries: 5 });
    expect(limitsOfOverlays([{ ...loose, isApproved: false }], inForce, undefined)).toEqual({});
  });
});

describe('limits that were learned', () => {
  const usual = { retries: 2, headersMs: 600_000, idleMs: 600_000 };
  const cruel: LimitOverlay = {
    ...{ type: 'validator_policy_tweak', retries: 0, headersMs: 100, idleMs: 100, lessons: 0, reasks: 2 },
  };

  it('leave an agent a retry, 30 s, a lesson and one re-ask at most, whoever approved them', () => {
    const least = { headersMs: 30_000, idleMs: 90_000 };
    for (const isApproved of [false, true])
      expect(
        limitsOfOverlays([limit({ payload: cruel, isLearned: true, isApproved })], usual, least),
      ).toEqual({
        ...{ retries: 1, headersMs: 30_000, idleMs: 90_000, lessons: 1, reasks: 1 },
      });
    // What a person wrote is as it was written.
    const { type: _, ...written } = cruel;
    expect(limitsOfOverlays([limit({ payload: cruel, isApproved: true })], usual, least)).toEqual(written);
  });

  it('shorten no wait while nobody knows how long the agent’s replies take', () => {
    expect(limitsOfOverlays([limit({ payload: cruel, isLearned: true })], usual, undefined)).toEqual({
      ...{ retries: 1, lessons: 1, reasks: 1 },
    });
  });

  it('never go below the floors or the settings, and a floor loosens nothing', () => {
    fc.assert(
      fc.property(
        fc.array(overlay(fc.boolean(), fc.constant(true)), { minLength: 1 }),
        settings,
        floors,
        (overlays, inForce, least) => {
          const limits = limitsOfOverlays(overlays, inForce, least);
          for (const field of ['headersMs', 'idleMs'] as const) {
            const floor = Math.min(least?.[field] ?? Number.POSITIVE_INFINITY, inForce[field]);
            expect(limits?.[field] ?? inForce[field]).toBeGreaterThanOrEqual(floor);
            const asked = overlays.flatMap((one) => one.payload[field] ?? []);
            expect(limits?.[field] ?? 0).toBeLessThanOrEqual(Math.max(inForce[field], ...asked));
          }
          expect(limits?.retries ?? 1).toBeGreaterThanOrEqual(Math.min(1, inForce.retries));
          expect(limits?.lessons ?? 1).toBeGreaterThanOrEqual(1);
          expect(limits?.reasks ?? 1).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

describe('the floors of an agent', () => {
  const turns = (count: number, firstByteMs: number, totalMs: number) =>
    Array.from({ length: count }, () => ({
      ...{ status: 'complete' as const, policy: 'p/m', firstByteMs, totalMs },
    }));

  it('are 30 s below 20 measured turns, and three times the 99th percentile from there on', () => {
    expect(floorsOf(turns(19, 60_000, 90_000))).toEqual({ headersMs: 30_000, idleMs: 30_000 });
    expect(floorsOf(turns(20, 60_000, 90_000))).toEqual({ headersMs: 180_000, idleMs: 270_000 });
    expect(floorsOf(turns(400, 50, 900))).toEqual({ headersMs: 30_000, idleMs: 30_000 });
    // One slow reply of 100 is the 99th percentile's business, one of 200 is not.
    const slow = turns(1, 100_000, 100_000);
    expect(floorsOf([...turns(98, 1_000, 1_000), ...slow, ...slow]).headersMs).toBe(300_000);
    expect(floorsOf([...turns(199, 1_000, 1_000), ...slow]).headersMs).toBe(30_000);
  });

  it('rest on replies that models completed: neither on those that a limit cut nor on those of flows', () => {
    const cut = turns(40, 200_000, 200_000).map((one) => ({ ...one, status: 'upstream-error' as const }));
    const flow = turns(40, 200_000, 200_000).map((one) => ({ ...one, policy: 'flow/ship' }));
    expect(floorsOf([...cut, ...flow, ...turns(20, 1, 1)])).toEqual({ headersMs: 30_000, idleMs: 30_000 });
  });

  it('hold for every limit, and change none that is within them', () => {
    fc.assert(
      fc.property(
        payload,
        fc.array(fc.integer({ min: 1, max: 300_000 }), { maxLength: 60 }),
        (asked, took) => {
          const least = floorsOf(took.map((ms) => ({ ...turns(1, ms, ms)[0], policy: 'p/m' })));
          const once = withinFloors(asked, least);
          expect(withinFloors(once, least)).toEqual(once);
          expect(once.headersMs ?? 30_000).toBeGreaterThanOrEqual(30_000);
          if (took.length >= 20)
            expect(once.idleMs ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(
              3 * (took.toSorted((a, b) => a - b)[Math.ceil(0.99 * took.length) - 1] ?? 0),
            );
        },
      ),
    );
  });
});
