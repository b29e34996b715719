import type { Moment, Rules } from './state.ts';

/**
 * Whether time passed in a way that it does not pass by itself: the wall clock was set, forwards or back, by an hour or
 * by ten years, or the machine slept (its monotonic clock stands still meanwhile, or nobody looked for long). Nothing
 * that was concluded before holds after it, and whoever wakes a machine is probably there.
 */
export function findJump(
  before: Moment | undefined,
  now: Moment,
  rules: Pick<Rules, 'jumpMs' | 'gapMs'>,
): string | undefined {
  if (before === undefined) return undefined;
  const lasted = now.mono - before.mono;
  const drift = now.wall - before.wall - lasted;
  if (drift <= -rules.jumpMs) return 'the clock was set back';
  if (drift >= rules.jumpMs) return 'the clock jumped ahead, or the machine slept';
  return lasted >= rules.gapMs ? 'the machine slept' : undefined;
}
