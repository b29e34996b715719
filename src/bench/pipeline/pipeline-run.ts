/** Lessons are not shown, or they are; all else is the same. Weights are not part of this suite. */
export type PipelineCondition = 'baseline' | 'skills';

/**
 * How a stage ended. `blocked`: something that it needs was not there. `interrupted`: the model could not be reached or the
 * run was aborted; that says nothing about the work.
 */
export type StageEndStatus = 'completed' | 'failed' | 'blocked' | 'interrupted';

/** One stage of one run. */
export interface StageRecord {
  readonly stage: string;
  readonly kind: 'model' | 'code';
  readonly isScorable: boolean;
  readonly status: StageEndStatus;
  /** Attempts that said something about the work: those that an outage ended are not among them. */
  readonly attempts: number;
  /** Refine cycles over all attempts. */
  readonly refines: number;
  /** The conventions that the first answer broke. */
  readonly broken: readonly string[];
  /** Why it was sent back or failed, each once. */
  readonly reasons: readonly string[];
  /** The lessons that its first turn was shown. */
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
