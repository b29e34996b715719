import type { Served } from './policy-pointer.ts';

/** `candidate` is measured on held-out tasks, `canary` serves a share of sessions, `live` serves the rest too. */
export type Stage = 'candidate' | 'canary' | 'live' | 'rejected' | 'rolled-back';

/** Scores are of 0 … 1. A pair or session is named so that it counts once, however often it is told. */
export type PromotionEvent =
  | { readonly type: 'proposed'; readonly served: Served }
  | {
      readonly type: 'pair-scored';
      readonly version: number;
      readonly pair: string;
      readonly candidate: number;
      readonly live: number;
    }
  | { readonly type: 'session-scored'; readonly session: string; readonly score: number }
  | { readonly type: 'probed'; readonly version: number; readonly isWell: boolean }
  /** One stage on, or back, because a person says so. */
  | { readonly type: 'person-promoted' | 'person-rolled-back' };

/** To be written in one piece with the pointer that follows from it. */
export interface CheckpointMoved {
  readonly type: 'checkpoint-moved';
  readonly version: number;
  readonly from: Stage | undefined;
  readonly to: Stage;
  readonly by: 'measurement' | 'probe' | 'person';
  readonly why: string;
  /** It was shown to be worse, and not merely not shown to be as good. */
  readonly isWorse?: true;
}
