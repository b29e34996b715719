import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ActiveOverlay, LimitOverlay } from '../../src/core/overlay.ts';
import { RESPONSE_CHECKS } from '../../src/core/overlay.ts';
import { limitsOfOverlays } from '../../src/overlays/apply-overlays.ts';

const FIELDS = ['retries', 'headersMs', 'idleMs'] as const;

const payload: fc.Arbitrary<LimitOverlay> = fc.record(
  {
    type: fc.constant('validator_policy_tweak' as const),
    retries: fc.integer({ min: 0, max: 5 }),
    headersMs: fc.integer({ min: 100, max: 3_600_000 }),
    idleMs: fc.integer({ min: 100, max: 3_600_000 }),
    checks: fc.uniqueArray(fc.constantFrom(...RESPONSE_CHECKS)),
    reasks: fc.integer({ min: 0, max: 2 }),
    lessons: fc.integer({ min: 0, max: 6 }),
  },
  { requiredKeys: ['type'] },
);
const overlay = (isApproved: fc.Arbitrary<boolean>): fc.Arbitrary<ActiveOverlay<LimitOverlay>> =>
  fc.record({
    lesson: fc.string(),
    name: fc.string(),
    revision: fc.constant(1),
    state: fc.constantFrom('trial' as const, 'live' as const),
    payload,
    isApproved,
  });
const settings = fc.record({
  retries: fc.integer({ min: 0, max: 10 }),
  headersMs: fc.integer({ min: 100, max: 3_600_000 }),
  idleMs: fc.integer({ min: 100, max: 3_600_000 }),
});

describe('the limits of several overlays', () => {
  it('are never looser than the settings where no person approved one', () => {
    fc.assert(
      fc.property(fc.array(overlay(fc.constant(false))), settings, (overlays, inForce) => {
        const limits = limitsOfOverlays(overlays, inForce);
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
        (overlays, one, inForce) => {
          const before = limitsOfOverlays(overlays, inForce);
          const after = limitsOfOverlays([...overlays, one], inForce);
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
    const loose: ActiveOverlay<LimitOverlay> = {
      lesson: 'l',
      name: 'patient',
      revision: 1,
      state: 'live',
      payload: { type: 'validator_policy_tweak', retries: 5 },
      isApproved: true,
    };
    const inForce = { retries: 2, headersMs: 1000, idleMs: 1000 };
    expect(limitsOfOverlays([loose], inForce)).toEqual({ retries: 5 });
    expect(limitsOfOverlays([{ ...loose, isApproved: false }], inForce)).toEqual({});
  });
});
