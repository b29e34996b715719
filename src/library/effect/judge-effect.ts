import type { Interval } from '../../stats/interval.ts';

export type EffectVerdict = 'harmful' | 'helpful' | 'unknown';

/** The verdict that an interval allows: unknown when it contains zero. */
export function judgeEffect({ low, high }: Interval): EffectVerdict {
  if (high < 0) return 'harmful';
  return low > 0 ? 'helpful' : 'unknown';
}
