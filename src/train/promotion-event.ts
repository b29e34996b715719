import type { Served } from './policy-pointer.ts';

/** A `candidate` is measured on held-out tasks, a `canary` serves a share of sessions, `live` serves all others. */
export type Stage = 'candidate' | 'canary' | 'live' | 'rejected' | 'rolled-back';

/** Scores are 0 to 1. Pairs and sessions have names, so that each counts once however often it is reported. */
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
  /** A person moved the weights one stage forward or back. */
  | { readonly type: 'person-promoted' | 'person-rolled-back' };

/** Written in one transaction with the pointer that results from it. */
export interface CheckpointMoved {
  readonly type: 'checkpoint-moved';
  readonly version: number;
  readonly from: Stage | undefined;
  readonly to: Stage;
  readonly by: 'measurement' | 'probe' | 'person';
  readonly why: string;
  /** It was shown to be worse; without this it was only not shown to be as good. */
  readonly isWorse?: true;
}
