import { describe, expect, it } from 'vitest';
import { createIds } from '../../src/base/ids.ts';
import { createManualClock } from '../../src/core/clock.ts';

describe('ids', () => {
  it('of one millisecond sort in the order in which they were made (not by chance)', () => {
    const newId = createIds(createManualClock(1_794_834_000_000));
    const made = Array.from({ length: 5_000 }, () => newId('lesson'));
    expect([...made].sort()).toEqual(made);
    expect(new Set(made.map((id) => id.length)).size).toBe(1);
  });

  it('keep their order when a millisecond has more of them than digits, and when the clock is set back', () => {
    const clock = createManualClock(1_794_834_000_000);
    const newId = createIds(clock);
    const many = Array.from({ length: 70_000 }, () => newId('t'));
    clock.advance(-60_000);
    const late = [newId('t'), newId('t')];
    clock.advance(120_000);
    const all = [...many, ...late, newId('t')];
    expect(all.findIndex((id, nth) => nth > 0 && id <= (all[nth - 1] ?? ''))).toBe(-1);
  });

  it('of two generators in the same millisecond differ', () => {
    const clock = createManualClock(1_794_834_000_000);
    const [one, other] = [createIds(clock), createIds(clock)];
    const both = Array.from({ length: 2_000 }, () => [one('t'), other('t')]).flat();
    expect(new Set(both).size).toBe(4_000);
  });
});
