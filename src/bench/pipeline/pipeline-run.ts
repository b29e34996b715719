/** Without lessons in the prompts, or with them; everything else is the same. This suite trains no weights. */
export type PipelineCondition = 'baseline' | 'skills';

/**
 * How a stage ended. `blocked`: a stage it depends on did not complete. `interrupted`: the model was unavailable or the run was
 * aborted; that says nothing about the work.
 */
export type StageEndStatus = 'completed' | 'failed' | 'blocked' | 'interrupted';

/** One stage of one run. */
export interface StageRecord {
  readonly stage: string;
  readonly kind: 'model' | 'code';
  readonly isScorable: boolean;
  readonly status: StageEndStatus;
  /** Attempts, without those that an outage ended. */
  readonly attempts: number;
  /** Refine cycles over all attempts. */
  readonly refines: number;
  /** Conventions that the first answer broke. */
  readonly broken: readonly string[];
  /** Why it was sent back or failed, each once. */
  readonly reasons: readonly string[];
  /** Ids of the lessons in its first prompt. */
  readonly lessons: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ms: number;
}

/** One run of the whole pipeline, a record for each stage in order. */
export interface PipelineRun {
  readonly run: number;
  readonly stages: readonly StageRecord[];
}
