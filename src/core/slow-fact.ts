/** Facts about background jobs and about the weights they train. */
export type SlowFact =
  /** Whether background jobs may run has changed. The reasons name sources and states, never a person's actions or plans. */
  | {
      readonly type: 'schedule-changed';
      readonly from: SchedulePhase;
      readonly to: SchedulePhase;
      readonly reasons: readonly string[];
      readonly job?: string;
    }
  /**
   * A process leased a job. The facts of a job are numbered without a gap: of two processes that write the same number
   * the second is refused, and knows that it has lost the lease.
   */
  | {
      readonly type: 'job-leased';
      readonly job: string;
      /** The same for all parts of one run, however often it is interrupted. */
      readonly run: string;
      readonly n: number;
      readonly holder: string;
      /** For people. Waiting for a lease to expire uses the monotonic clock. */
      readonly until: number;
    }
  | {
      readonly type: 'job-checkpointed';
      readonly job: string;
      readonly run: string;
      readonly n: number;
      /** What the job needs to resume: positions and counts, never text of people. */
      readonly state: string;
      /** By this part of the run so far. */
      readonly spent: JobSpent;
    }
  /** A part of a run ended. */
  | {
      readonly type: 'job-ended';
      readonly job: string;
      readonly run: string;
      readonly n: number;
      readonly end: 'done' | 'paused' | 'failed';
      /** The run is over: no further part follows. */
      readonly isOver: boolean;
      readonly note?: string;
      readonly spent: JobSpent;
    }
  /** A reply of a policy in training, in tokens. The turn itself has the same reply as text. */
  | {
      readonly type: 'turn-sampled';
      readonly turn: string;
      readonly session: string;
      /** The version of the weights. */
      readonly version: number;
      readonly generation: number;
      readonly temperature: number;
      /** Ids and log-probabilities, as the hash of a block. */
      readonly tokens?: string;
    }
  /** Weights moved between stages, or were measured. The last of these facts determines which weights serve. */
  | {
      readonly type: 'policy-moved';
      readonly engine: string;
      readonly version: number;
      readonly from?: string;
      readonly to: string;
      readonly by: 'measurement' | 'probe' | 'person';
      readonly why: string;
      /** The whole state after this move. */
      readonly state: string;
    };

/** `waiting`: someone may be present. `open`: nobody is, and nothing runs. `pausing`: someone is back, the job is stopping. */
export type SchedulePhase = 'waiting' | 'open' | 'running' | 'pausing';

export interface JobSpent {
  readonly ms: number;
  readonly tokens: number;
  readonly usd: number;
}
