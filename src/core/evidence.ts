import type { AssistantPart, StopReason } from './chat.ts';
import type { LabelledSpan } from './reading.ts';

/** A tool's result for one call of a turn, taken from the next request. */
export interface ToolOutcome {
  readonly callId: string;
  readonly text: string;
  /** The client's error flag, on wires that have one. */
  readonly isError?: boolean;
  /** The call, where it is no part of the reply: clients without tool messages write calls and results as plain text. */
  readonly call?: { readonly name: string; readonly arguments: string };
}

export const EPISODE_OUTCOMES = ['success', 'failure', 'partial'] as const;
export type EpisodeOutcome = (typeof EPISODE_OUTCOMES)[number];

/** How an episode ended: an outcome, or only that the run is over, from programs that claim no outcome. */
export const EPISODE_ENDINGS = [...EPISODE_OUTCOMES, 'ended', 'aborted'] as const;
export type EpisodeEnding = (typeof EPISODE_ENDINGS)[number];

/** An attempt that the agent reported itself (over MCP, or as an event). */
export interface ReportedAttempt {
  readonly action: string;
  readonly result: string;
  readonly ok: boolean;
}

/** One turn with everything that tells how it went. Texts are as recorded, with secrets redacted. */
export interface TurnEvidence {
  readonly turn: string;
  readonly session: string;
  readonly agent: string;
  readonly role: TurnRole;
  readonly status: TurnStatus;
  /** `kind: message`, when the provider or the connection failed. */
  readonly failure?: string;
  /** What the user asked for: the newest user text before the reply. */
  readonly task: string;
  /** What a model read in the task's message; on the first turn that answers it. Absent: no model has read it. */
  readonly spans?: readonly LabelledSpan[];
  /** The agent had replied before in this conversation: the task's message may begin with a reaction to that reply. */
  readonly isFollowUp?: boolean;
  /** The tools the agent offered, with their parameters' schemas. */
  readonly tools: readonly { readonly name: string; readonly parameters: unknown }[];
  readonly reply: readonly AssistantPart[];
  readonly stop?: StopReason;
  /** The calls of the session's earlier turns, oldest first, with their outcome: to find repeated calls. */
  readonly earlier: readonly {
    readonly name: string;
    readonly arguments: string;
    readonly failed: boolean;
    /** A fingerprint of its result without times; absent while there was none. */
    readonly result?: string;
  }[];
  /** For a reply without calls: the calls since the user's last message, in whose state the agent stopped. */
  readonly answered?: readonly {
    readonly name: string;
    readonly arguments: string;
    readonly outcome: ToolOutcome;
  }[];
  /** How many earlier messages of the user are the same as the task: a schedule repeats itself. */
  readonly askedBefore?: number;
  /** What followed the reply; absent while nothing did. */
  readonly next?: {
    readonly tools: readonly ToolOutcome[];
    /** What the user said next. */
    readonly user?: string;
    /** What a model read in that; absent: no model has read it. */
    readonly spans?: readonly LabelledSpan[];
    /** The calls of the reply to that. */
    readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
    /** The answer to what the user said next is this one with changes. */
    readonly isRevised?: true;
    /** The person stopped the agent before they said that, or said nothing after it. */
    readonly isStopped?: true;
    /** One of the next turns made the edit that failed in this one. */
    readonly isCorrected?: true;
  };
  /** Rewards given to this turn, with their source, −1 to 1. */
  readonly given: readonly {
    readonly source: RewardSource;
    readonly score: number;
    readonly note?: string;
    /** The id of the key that gave it. */
    readonly by?: string;
  }[];
  readonly attempts: readonly ReportedAttempt[];
  /** Of an episode: how it ended, in the word of the program that reported it. Turns have none. */
  readonly outcome?: EpisodeEnding;
  /** The agent reported all of it itself, the task included: none of it is a person's word. */
  readonly isReported?: true;
}

/** One sign of how a turn went, with its source and weight. */
export interface Signal {
  readonly name: string;
  readonly source: RewardSource;
  /** 0 (went wrong) to 1 (went well). */
  readonly score: number;
  /** More than 0; its weight among signals of its source. */
  readonly weight: number;
  /** What was observed, short, for people. */
  readonly reason: string;
}

/**
 * `infrastructure` (limits, time-outs, resets, aborts) is neither success nor failure and is never learned from.
 * `ambiguous`: there is no sign of either; a judge may be asked.
 */
export type Verdict = 'success' | 'failure' | 'infrastructure' | 'ambiguous';

/** What a person said in the chat against the answer before it, or about how things are done here. */
export interface Correction {
  /** Passages of the person's own message, letter by letter; never what they pasted, quoted or what their client inserted. */
  readonly quotes: readonly string[];
  /** Said for later work too ("we use pnpm here", "never touch dist/"), not about this one answer ("no, the other file"). */
  readonly isStanding: boolean;
}

/** The verdict on a turn, with its reward and reasons. */
export interface Appraisal {
  readonly turn: string;
  readonly verdict: Verdict;
  /** 0 to 1; below 0.5 is a failure. Absent for turns that are not learned from. */
  readonly reward?: number;
  /** The most trusted source among the signals. */
  readonly source?: RewardSource;
  readonly signals: readonly Signal[];
  /** `Kind @ file:line` and similar: what went wrong, without the free text around it. */
  readonly digests: readonly string[];
  /** Read from the record each time and not stored with the appraisal: it goes when the session is erased. */
  readonly correction?: Correction;
  /**
   * What the person stated after the answer without a sign of blame or praise, letter by letter. Once it says nothing; in two
   * sessions it is what they have to say again and again. Not stored either.
   */
  readonly remark?: readonly string[];
}

/** How a turn ended. `crashed`: its process died; the next start of the daemon writes it. */
export type TurnStatus = 'complete' | 'client-abort' | 'upstream-error' | 'truncated' | 'refused' | 'crashed';

/** `main`: the user's agent. `side`: one of its sub-agents. `aux`: a title, a token count, a compaction; never learned from. */
export type TurnRole = 'main' | 'side' | 'aux';

/**
 * `chat`: what the user said in the chat about an answer, to Instar ("instar: bad, use ISO dates") or to the agent ("no, ISO
 * dates"). More than a guess, but an agent with a caller key could have typed it: it may put a lesson on trial for its own agent
 * and project, and never counts as a `person`. `agent`: feedback that an agent gave with its
 * own key. Never a person's word, and less than any other sign.
 */
export type RewardSource = 'verifier' | 'person' | 'chat' | 'judge' | 'signal' | 'agent';
