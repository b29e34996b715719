import { describe, expect, it } from 'vitest';
import type { ActiveOverlay, OverlayFact, OverlayPayload } from '../../src/core/overlay.ts';
import { MOST_BIAS } from '../../src/core/overlay.ts';
import { biasOf, createApplyOverlays } from '../../src/overlays/active-overlays.ts';

const overlay = <Payload extends OverlayPayload>(
  payload: Payload,
  lesson = 'l-1',
): ActiveOverlay<Payload> => ({
  ...{ lesson, name: lesson, revision: 1, state: 'trial', payload, isApproved: false },
});
const hint = (tier: 'cheap' | 'strong', bias: number) =>
  overlay({ type: 'routing_hint', tier, bias } as const);

describe('overlays of a turn', () => {
  it('are recorded once for each session and set, with those that are held out', () => {
    const facts: OverlayFact[] = [];
    const keys = new Set<string>();
    const found = [
      overlay({ type: 'validator_policy_tweak', retries: 0 }),
      overlay(hint('cheap', 0.1).payload, 'l-2'),
    ];
    const apply = createApplyOverlays({
      active: { for: () => found },
      lotOf: ({ session }, lesson) => (lesson === 'l-1' && session.endsWith('7') ? 'held-out' : 'shown'),
      settings: () => ({ retries: 2, headersMs: 1000, idleMs: 1000 }),
      floors: () => undefined,
      append: (fact, key) => {
        facts.push(fact);
        keys.add(key);
      },
    });
    let without = 0;
    for (let nth = 0; nth < 2000; nth++) {
      const session = `s-${nth}`;
      for (const turn of ['t-1', 't-2']) apply({ session, agent: 'a' })?.record(turn);
      const { lessons = [], limits } = apply({ session, agent: 'a' }) ?? {};
      if (!lessons.includes('l-1')) without++;
      expect(limits?.retries).toBe(lessons.includes('l-1') ? 0 : undefined);
    }
    expect(facts).toHaveLength(2000);
    expect(keys.size).toBe(2000);
    expect(without).toBe(200);
    for (const { lessons, heldOut } of facts) expect([...lessons, ...heldOut].sort()).toEqual(['l-1', 'l-2']);
  });

  it('are none without any in force, and for prompts alone', () => {
    const make = (found: readonly ActiveOverlay[]) =>
      createApplyOverlays({
        active: { for: () => found },
        lotOf: () => 'shown',
        settings: () => ({ retries: 2, headersMs: 1000, idleMs: 1000 }),
        floors: () => undefined,
        append: () => expect.unreachable(),
      });
    expect(make([])({ session: 's' })).toBeUndefined();
    expect(make([overlay({ type: 'prompt_fragment', guidance: ['a'] })])({ session: 's' })).toBeUndefined();
  });

  it('of one key’s events act on requests with that key, also when it was renewed, and on no others', () => {
    const apply = createApplyOverlays({
      active: { for: () => [{ ...hint('cheap', 0.1), isLearned: true, onlyFor: 'k_0123456789' }] },
      lotOf: () => 'shown',
      settings: () => ({ retries: 2, headersMs: 1000, idleMs: 1000 }),
      floors: () => undefined,
      append: () => undefined,
    });
    const acts = (session: string, key?: string): boolean => apply({ session, key }) !== undefined;
    expect(acts('s', 'k_0123456789')).toBe(true);
    expect(acts('o_0123456789:s', 'k_renewed000')).toBe(true);
    for (const [session, key] of [
      ['s', 'k_abcdefghij'],
      ['o_abcdefghij:s', 'k_abcdefghij'],
      ['k_0123456789.x:s', 'k_abcdefghij'],
      ['s', undefined],
    ] as const)
      expect(acts(session, key), session).toBe(false);
  });

  it('move the router by no more than one hint may, however many they are', () => {
    expect(biasOf([])).toBeUndefined();
    expect(biasOf([hint('strong', 0.1), hint('strong', 0.2), hint('strong', 0.2)])).toBe(MOST_BIAS);
    expect(biasOf([hint('cheap', 0.2), hint('cheap', 0.2)])).toBe(-MOST_BIAS);
    expect(biasOf([hint('cheap', 0.1), hint('strong', 0.1)])).toBe(0);
  });
});
