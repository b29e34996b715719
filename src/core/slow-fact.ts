/** What happens to slow work, and to the weights that it trains. */
export type SlowFact =
  /** Whether slow work may run has changed. The reasons name sources and states, never what a person did or planned. */
  | {
      readonly type: 'schedule-changed';
      readonly from: SchedulePhase;
      readonly to: SchedulePhase;
      readonly reasons: readonly string[];
      readonly job?: string;
    }
  /**
   * A process took up a piece of slow work. What happens to a job is one chain, numbered without a gap: of two who write
   * the same number the second is refused, and knows that the work is no longer its own.
   */
  | {
      readonly type: 'job-leased';
      readonly job: string;
      /** The same for all parts of one piece of work. */
      readonly run: string;
      readonly n: number;
      readonly holder: string;
      /** For people. Whoever waits for a lease to end measures it on a clock that nobody sets. */
      readonly until: number;
    }
  | {
      readonly type: 'job-checkpointed';
      readonly job: string;
      readonly run: string;
      readonly n: number;
      /** What the job needs to go on from here: places and counts, nobody's words. */
      readonly state: string;
      /** By this part so far. */
      readonly spent: JobSpent;
    }
  /** A part of the work is over. */
  | {
      readonly type: 'job-ended';
      readonly job: string;
      readonly run: string;
      readonly n: number;
      readonly end: 'done' | 'paused' | 'failed';
      /** No further part follows. */
      readonly isOver: boolean;
      readonly note?: string;
      readonly spent: JobSpent;
    }
  /** A reply of a policy that trains, in tokens: what its weights could learn from. Beside the turn, which says the same in words. */
  | {
      readonly type: 'turn-sampled';
      readonly turn: string;
      readonly session: string;
      /** Of the weights. */
      readonly version: number;
      readonly generation: number;
      readonly temperature: number;
      /** Ids and log-probabilities, as the hash of a block. */
      readonly tokens?: string;
    }
  /** Weights have moved between their stages, or were measured. The last of these says which weights serve. */
  | {
      readonly type: 'policy-moved';
      readonly engine: string;
      readonly version: number;
      readonly from?: string;
      readonly to: string;
      readonly by: 'measurement' | 'probe' | 'person';
      readonly why: string;
      /** All that the next one follows from. */
      readonly state: string;
    };

/** `waiting`: someone may be there. `open`: nobody is, and nothing runs. `pausing`: someone is back, work is stopping. */
export type SchedulePhase = 'waiting' | 'open' | 'running' | 'pausing';

export interface JobSpent {
  readonly ms: number;
  readonly tokens: number;
  readonly usd: number;
}
