import type { Promotion } from '../../train/promotion.ts';
import type { CheckpointMoved, PromotionEvent } from '../../train/promotion-event.ts';
import type { Shown } from './roll-out.ts';
import type { TrainNews } from './train-weights.ts';

/** What training needs to know of the rest of Instar, and tells it. */
export interface TrainingDuties {
  /** What the library shows with a task at the moment. */
  show(task: string): Promise<Shown>;
  generation(): Promise<number>;
  tell(event: PromotionEvent): Promise<Told>;
}

export interface Told {
  readonly moves: readonly CheckpointMoved[];
  readonly promotion: Promotion;
}

export type Question =
  | { readonly ask: 'show'; readonly task: string }
  | { readonly ask: 'generation' }
  | { readonly ask: 'tell'; readonly event: PromotionEvent };

export type FromThread =
  | { readonly type: 'news'; readonly news: TrainNews }
  | { readonly type: 'question'; readonly id: number; readonly question: Question }
  | { readonly type: 'over' }
  | { readonly type: 'failed'; readonly message: string; readonly category: 'user' | 'server' | 'unknown' };

export type ToThread =
  | { readonly type: 'stop' }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'no-answer'; readonly id: number; readonly message: string };
