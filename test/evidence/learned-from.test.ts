import { describe, expect, it } from 'vitest';
import { flowPolicy } from '../../src/core/overlay.ts';
import { isLearnedFrom } from '../../src/evidence/learned-from.ts';

describe('a turn', () => {
  it('is learned from when a model answered a known caller, and never when a flow did', () => {
    expect(isLearnedFrom({ caller: 'k_1', policy: 'openai/m' })).toBe(true);
    expect(isLearnedFrom({ caller: 'k_1', policy: flowPolicy('ship-order') })).toBe(false);
    expect(isLearnedFrom({ caller: 'anonymous', policy: 'openai/m' })).toBe(false);
  });
});
