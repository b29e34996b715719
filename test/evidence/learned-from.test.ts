import { describe, expect, it } from 'vitest';
import { flowPolicy } from '../../src/core/overlay.ts';
import { isLearnedFrom, isPractisedOn } from '../../src/evidence/learned-from.ts';

describe('a turn', () => {
  it('is learned from when a model answered a known caller, and never when a flow did', () => {
    expect(isLearnedFrom({ caller: 'k_1', policy: 'openai/m' })).toBe(true);
    expect(isLearnedFrom({ caller: 'k_1', policy: flowPolicy('ship-order') })).toBe(false);
    expect(isLearnedFrom({ caller: 'anonymous', policy: 'openai/m' })).toBe(false);
  });

  it.each([
    ['main', true],
    ['o_codex:main', true],
    ['k_0123456789:main', false],
    ['k_0123456789.u_0123456789abcdef:main', false],
    ['u_0123456789abcdef:main', false],
    ['c_0123456789abcdef:main', false],
  ])(
    'becomes a task of practice for everybody only where the home’s own person had the session: %s is %s',
    (session, isTask) => {
      expect(isPractisedOn({ caller: 'k_1', policy: 'openai/m', session })).toBe(isTask);
    },
  );
});
