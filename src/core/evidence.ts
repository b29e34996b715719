import type { AssistantPart, StopReason } from './chat.ts';
import type { RewardSource, TurnRole, TurnStatus } from './fact.ts';

/** A tool's answer to one call of a turn, as the next request brought it. */
export interface ToolOutcome {
  readonly callId: string;
  readonly text: string;
  /** What the client said of it, where its wire can say so. */
  readonly isError?: boolean;
}

/** A try at something, as an agent reported it itself (over MCP, or as an event). */
export interface Attempt {
  readonly action: string;
  readonly result: string;
  readonly ok: boolean;
}

/** One turn with all that can be known of how it went. Texts are as they were recorded, without secrets. */
export interface TurnEvidence {
  readonly turn: string;
  readonly session: string;
  readonly agent: string;
  readonly role: TurnRole;
  readonly status: TurnStatus;
  /** `kind: message`, when the provider or the connection failed. */
  readonly failure?: string;
  /** What the user asked for, latest words first in mind: the newest user text before the reply. */
  readonly task: string;
  /** The tools the agent offered, with their parameters' schemas. */
  readonly tools: readonly { readonly name: string; readonly parameters: unknown }[];
  readonly reply: readonly AssistantPart[];
  readonly stop?: StopReason;
  /** The calls of the session's earlier turns, oldest first, with what came of them: to see the same thing tried again. */
  readonly earlier: readonly {
    readonly name: string;
    readonly arguments: string;
    readonly failed: boolean;
  }[];
  /** The state the reply led to; absent while nothing came after it. */
  readonly next?: {
    readonly tools: readonly ToolOutcome[];
    /** What the user said next. */
    readonly user?: string;
  };
  /** Rewards that were given to this turn, by whom, −1 to 1. */
  readonly given: readonly {
    readonly source: RewardSource;
    readonly score: number;
    readonly note?: string;
  }[];
  readonly attempts: readonly Attempt[];
}

/** One sign of how a turn went, with where it comes from and how much it says. */
export interface Signal {
  readonly name: string;
  readonly source: RewardSource;
  /** 0 (went wrong) to 1 (went well). */
  readonly score: number;
  /** More than 0; how much it counts among signals of its source. */
  readonly weight: number;
  /** What was seen, short, for people. */
  readonly reason: string;
}

/**
 * `infrastructure` (limits, time-outs, resets, aborts) is neither success nor failure and never teaches. `ambiguous`:
 * nothing was seen that would tell; a judge may be asked.
 */
export type Verdict = 'success' | 'failure' | 'infrastructure' | 'ambiguous';

/** What is believed of a turn. */
export interface Appraisal {
  readonly turn: string;
  readonly verdict: Verdict;
  /** 0 to 1; below 0.5 is a failure. Absent for what teaches nothing. */
  readonly reward?: number;
  /** The highest source that spoke. */
  readonly source?: RewardSource;
  readonly signals: readonly Signal[];
  /** `Kind @ file:line` and the like: what went wrong, without the free text around it. */
  readonly digests: readonly string[];
}
