import type { Interval } from '../../stats/interval.ts';

export type EffectVerdict = 'harmful' | 'helpful' | 'unknown';

/** What an effect that lies in this interval is known to be: something only when zero is not in it. */
export function judgeEffect({ low, high }: Interval): EffectVerdict {
  if (high < 0) return 'harmful';
  return low > 0 ? 'helpful' : 'unknown';
}
