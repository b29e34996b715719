import type { JobCost } from '../src/core/schedule.ts';
import type { PromotionEvent } from './promotion.ts';
import type { DaemonCalls, TrainingPlan } from './training-plan.ts';

/** What training in a session of practice needs, as plain data: it runs in another thread than the one that serves. */
interface PracticeTrainingPlan
  extends Pick<
    TrainingPlan,
    | 'engine'
    | 'template'
    | 'folder'
    | 'rank'
    | 'tuning'
    | 'promotion'
    | 'turnedBack'
    | 'regression'
    | 'isThin'
    | 'isBudgeted'
    | 'price'
  > {
  /** The policy's name, such as `nano`. */
  readonly name: string;
}

/** The plan, or why nothing may be trained now. */
type PracticeTrainingStart =
  | { readonly ok: true; readonly plan: PracticeTrainingPlan }
  | { readonly ok: false; readonly why: string };

/** What a session of practice asks of the daemon. */
export interface PracticeTrainingCalls
  extends Pick<DaemonCalls, 'tell' | 'shortage' | 'generation' | 'reserve' | 'settle'> {
  /** Nothing else trains the engine's weights from then on until `end`. Undefined: the model (`provider/model`) is not its policy. */
  begin(model: string): Promise<PracticeTrainingStart | undefined>;
  end(): Promise<void>;
}

/** One of these calls as plain data. */
export type PracticeTrainingCall =
  | { readonly call: 'begin'; readonly model: string }
  | { readonly call: 'tell'; readonly event: PromotionEvent }
  | { readonly call: 'shortage'; readonly clusters: number }
  | { readonly call: 'generation' | 'end' }
  | { readonly call: 'reserve'; readonly most: JobCost; readonly purpose: 'sample' | 'train' }
  | { readonly call: 'settle'; readonly reservation: number; readonly used: JobCost };
