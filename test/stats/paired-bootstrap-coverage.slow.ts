import { describe, expect, it } from 'vitest';
import { coverage, largeWorlds } from './paired-worlds.ts';

describe('the 95 % interval of a paired difference', () => {
  it.each(largeWorlds)('covers the truth in 92 to 98 % of 400 experiments: $name', (world) => {
    const share = coverage(world);
    expect(share).toBeGreaterThanOrEqual(0.92);
    expect(share).toBeLessThanOrEqual(0.98);
  });
});
