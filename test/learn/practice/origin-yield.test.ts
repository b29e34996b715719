import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { TASK_ORIGINS, type TaskOrigin } from '../../../src/core/practice.ts';
import { type OriginYield, payOf, yieldsByOrigin } from '../../../src/learn/practice/practice-history.ts';

const origins: Readonly<Record<string, TaskOrigin>> = { 'curated/a': 'curated', 'mined/b': 'mined' };
const attempt = (task: string, tokens: number): Json => ({ task, used: { tokens } });

describe('what tasks of each origin pay', () => {
  it('counts tokens of attempts and lessons on trial by origin; what the gate refused is no lesson', () => {
    const units = new Map<string, Json>([
      ['attempt/0/curated/a/0/0', attempt('curated/a', 100)],
      ['attempt/0/curated/a/1/0', attempt('curated/a', 120)],
      ['attempt/0/mined/b/0/0', attempt('mined/b', 50)],
      [
        'proposals/0',
        {
          proposals: [
            { groups: ['r/0/curated/a'] },
            { groups: ['r/0/curated/a', 'r/0/mined/b'] },
            { groups: ['r/0/mined/b'] },
            { groups: ['recorded/x'] },
          ],
        },
      ],
      ['judged/0/0', { outcome: 'trial' }],
      ['judged/0/1', { outcome: 'live' }],
      ['judged/0/2', { outcome: 'refused' }],
      ['judged/0/3', { outcome: 'trial' }],
    ]);
    expect(yieldsByOrigin('r', units, (task) => origins[task])).toEqual([
      { origin: 'curated', tokens: 220, learned: 1.5 },
      { origin: 'mined', tokens: 50, learned: 0.5 },
    ]);
  });

  it('prefers an origin that pays, but never loses sight of one', () => {
    const rows: readonly OriginYield[] = [
      { origin: 'mined', tokens: 1_000_000, learned: 20 },
      { origin: 'variation', tokens: 1_000_000, learned: 0 },
    ];
    expect(payOf('mined', rows)).toBeGreaterThan(1.3);
    expect(payOf('variation', rows)).toBe(0.5);
    expect(payOf('curated', rows)).toBe(1);
    expect(payOf('curated', [])).toBe(1);
    // A few attempts prove nothing.
    expect(
      payOf('variation', [
        ...rows.slice(0, 1),
        { ...rows[1], origin: 'variation', tokens: 5000, learned: 0 },
      ]),
    ).toBeGreaterThan(0.9);
  });

  it('is between a half and one and a half, whatever happened', () => {
    const row = fc.record({
      origin: fc.constantFrom(...TASK_ORIGINS),
      tokens: fc.nat(10_000_000),
      learned: fc.nat(500),
    });
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom(...TASK_ORIGINS), (rows, origin) => {
        const pay = payOf(origin, rows);
        return pay >= 0.5 && pay <= 1.5;
      }),
    );
  });
});
