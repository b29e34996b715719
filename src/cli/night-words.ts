import type { DemoEvent } from '../app/bench/run-demo.ts';

export type NightProgress = Omit<Extract<DemoEvent, { readonly type: 'night' }>, 'type'>;

/** How far a night is: first it trains, then what it trained is held against what serves. */
export function nightWords({
  day,
  step,
  steps,
  pairs,
}: Pick<NightProgress, 'day' | 'step' | 'steps' | 'pairs'>): string {
  const work =
    pairs === 0 ? `step ${step} of ${steps}` : `${pairs} ${pairs === 1 ? 'pair' : 'pairs'} weighed`;
  return `night after day ${day + 1}: ${work}`;
}
