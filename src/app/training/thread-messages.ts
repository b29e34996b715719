import type { TaskRecall } from '../../core/task-source.ts';
import type { Promotion } from '../../train/promotion.ts';
import type { CheckpointMoved, PromotionEvent } from '../../train/promotion-event.ts';
import type { LiveTurn } from '../../train/running-baseline.ts';
import type { LiveQuery } from './live-turns.ts';
import type { RecordedTask } from './recorded-task.ts';
import type { RecordedAnswer } from './recorded-tasks.ts';
import type { Shown } from './roll-out.ts';
import type { TrainNews } from './train-weights.ts';

/** What the training thread asks of the daemon. */
export interface TrainingDuties {
  /** The lessons that the library shows with a task now. */
  show(query: TaskRecall): Promise<Shown>;
  generation(): Promise<number>;
  tell(event: PromotionEvent): Promise<Told>;
  /** Recorded tasks, newest first. */
  recorded(): Promise<readonly RecordedTask[]>;
  /** 0 to 1; undefined when no verifier could grade it. */
  grade(answer: RecordedAnswer): Promise<number | undefined>;
  live(query: LiveQuery): Promise<readonly LiveTurn[]>;
}

export interface Told {
  readonly moves: readonly CheckpointMoved[];
  readonly promotion: Promotion;
}

export type Question =
  | { readonly ask: 'show'; readonly query: TaskRecall }
  | { readonly ask: 'generation' }
  | { readonly ask: 'tell'; readonly event: PromotionEvent }
  | { readonly ask: 'recorded' }
  | { readonly ask: 'grade'; readonly answer: RecordedAnswer }
  | { readonly ask: 'live'; readonly query: LiveQuery };

export type FromThread =
  | { readonly type: 'news'; readonly news: TrainNews }
  | { readonly type: 'question'; readonly id: number; readonly question: Question }
  | { readonly type: 'over' }
  | { readonly type: 'failed'; readonly message: string; readonly category: 'user' | 'server' | 'unknown' };

export type ToThread =
  | { readonly type: 'stop' }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'no-answer'; readonly id: number; readonly message: string };
