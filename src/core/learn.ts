import type { Appraisal, RewardSource } from './evidence.ts';
import type { Json, JsonObject } from './json.ts';
import type { Change, ChangeSet, Scope } from './lesson.ts';
import type { Library } from './library.ts';

/** The cost of model calls made for learning. */
export interface Cost {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** At known prices. */
  readonly usd: number;
  /** Tokens of models whose price is not known; absent when there are none. */
  readonly unpricedTokens?: number;
}

/** What was read in a model's reply. `why` it cannot be used: in words that help the model correct it. */
export type ReplyRead<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

/** One question to a learning model. `read` decodes its JSON reply; after a fault the model is asked once more. */
export interface Question<T> {
  /** For the journal: `evolve`, `judge`, `extract`. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  /** The JSON Schema of the reply, an object, for servers that decode under a schema. `read` accepts other forms as well. */
  readonly schema?: JsonObject;
  /** The same question once more, for another vote: which repetition it is. A stored answer to another one is not used for it. */
  readonly repetition?: number;
  read(value: Json): ReplyRead<T>;
  /** Reads a reply that is no JSON, such as a page of Markdown. Without it such a reply is a fault. */
  readText?(text: string): ReplyRead<T>;
}

export type Answer<T> =
  | {
      readonly ok: true;
      readonly value: T;
      readonly cost: Cost;
      readonly model: string;
      readonly prompt: string;
    }
  /** `isRetryable`: the model was unavailable or the budget spent; the same question may succeed later. */
  | {
      readonly ok: false;
      readonly why: string;
      readonly isRetryable: boolean;
      readonly cost: Cost;
      readonly cause?: StuckCause;
      readonly model?: string;
    };

/**
 * Why a question has no answer: the daily budget is spent, the model failed, its reply could not be used, or it says that there
 * is nothing to learn.
 */
export type StuckCause = 'budget' | 'model' | 'reply' | 'nothing';

/** Never rejects. The only way for learners to call a model: all model output is parsed here. */
export type Ask = <T>(question: Question<T>, signal: AbortSignal) => Promise<Answer<T>>;

/**
 * The author of a passage. Only text of `user`, `person` and `verifier` may become an instruction without review. `client`: the
 * program that the person uses, with the files and listings that it adds to messages by itself.
 */
export type Origin = 'user' | 'person' | 'verifier' | 'assistant' | 'client' | 'tool' | 'web';

export interface Passage {
  readonly origin: Origin;
  readonly text: string;
  /** A user's own words about this answer, said to Instar in the chat: not a message to the agent. */
  readonly isFeedback?: true;
  /** Said with the owner's key. */
  readonly isOwners?: true;
}

/** A shell command that the agent ran. */
export interface RunCommand {
  readonly text: string;
  /** Its recorded outcome was a success. */
  readonly isOk: boolean;
  /** How many passages of the material come before it. */
  readonly after: number;
}

/**
 * Everything that an answer may rest on: what the model had before it (the whole conversation as it was sent) and what
 * followed. In order and uncut, each text with its author. The gate compares a lesson with all of it; a learner is shown less.
 */
export interface TurnMaterial {
  readonly passages: readonly Passage[];
  readonly commands: readonly RunCommand[];
  /** Why text that the model had is not among the passages; empty when all of it is. */
  readonly missing: readonly string[];
}

/** One step of the work around a failure or a success, digested. */
export type TrajectoryStep =
  | { readonly kind: 'message'; readonly origin: Origin; readonly text: string }
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly arguments: string;
      /** Absent when no result was recorded. */
      readonly result?: string;
      readonly origin: Origin;
      readonly isOk?: boolean;
      readonly digests: readonly string[];
    };

/** A piece of evidence, with what the gate needs of it: a recorded turn that failed or went well, or an attempt of practice. */
export interface EvidenceCase {
  /** The turn, or the attempt. */
  readonly turn: string;
  /** One of several that could agree by chance: a session, or all attempts at one task. */
  readonly session: string;
  readonly at: number;
  readonly scope: Scope;
  /** The agent's task. */
  readonly task: string;
  /** The conversation in order, digested, each passage with its author. */
  readonly passages: readonly Passage[];
  /** Absent when it could not be read: then only a person's own words may become a lesson without review. */
  readonly material?: TurnMaterial;
  readonly appraisal: Appraisal;
  /** The most trusted source that reported how it went. */
  readonly source: RewardSource;
  /** The turns that led here, oldest first, and the failed turn itself last. */
  readonly trajectory?: readonly TrajectoryStep[];
  /** What finally worked in the same session, when something did. */
  readonly resolution?: readonly TrajectoryStep[];
  /** The recorded turn that the task of an attempt was mined from: a lesson from it rests on that turn, too. */
  readonly from?: string;
}

/** A failure, with what a learner needs of it. */
export interface FailureCase extends EvidenceCase {
  /** What the task's message asks for, where it follows a reply and may begin with a reaction to it. */
  readonly request?: string;
  readonly generation: number;
  /** Ids of the lessons that the turn was shown. */
  readonly shown?: readonly string[];
}

/** What a learner may do to the library. */
export type ProposedChange = Extract<Change, { readonly op: 'add' | 'revise' | 'merge' | 'retire' }>;

/** A change that a learner proposes, with its evidence. The gate decides how far it may go. */
export interface Proposal {
  readonly change: ProposedChange;
  /** Verbatim passages of the record. */
  readonly quotes: readonly { readonly turn: string; readonly text: string }[];
  /** What the rules of this program say about the same work: judged as well where the proposal has to wait for a person. */
  readonly byRule?: readonly Proposal[];
  /** The turns that it uses up. Absent: those that its text cites; a retirement has no text that would cite them. */
  readonly turns?: readonly string[];
}

export interface LearnInput<Material> {
  readonly material: Material;
  readonly library: Library;
  /** Undefined when no model is configured for learning. */
  readonly ask: Ask | undefined;
  readonly newId: (prefix: string) => string;
  /** Notes of the learner about its own steps. */
  readonly journal: (note: string) => void;
  readonly signal: AbortSignal;
}

/** The shape of every learner. It writes only its journal; it ends early when the signal aborts. */
export interface Learner<Material> {
  readonly name: string;
  learn(
    input: LearnInput<Material>,
  ): AsyncIterable<Proposal | DecidedChanges | CoveredByLesson | LearnerFailure>;
}

/** Changes that a measurement or a rule has decided, with words that the gate judged before: published as they are, in their order. */
export interface DecidedChanges {
  readonly set: ChangeSet;
  /** Why they may not go further; absent without objections. */
  readonly why?: readonly string[];
}

/** An existing lesson covers these failures: nothing has to change, and they are consumed. */
export interface CoveredByLesson {
  /** The lesson's id. */
  readonly known: string;
  readonly turns: readonly string[];
}

/** The model was unavailable or its reply unusable: the material is not consumed. */
export interface LearnerFailure {
  readonly stuck: string;
  readonly isRetryable: boolean;
  readonly cause?: StuckCause;
}

/** How far a proposal may go. */
export type GateOutcome = 'live' | 'trial' | 'proposed' | 'refused';

export interface Judgement {
  readonly outcome: GateOutcome;
  /** Why it may not go further; empty without objections. */
  readonly why: readonly string[];
  /** Refused because a lesson says the same already. */
  readonly isKnown?: boolean;
  /** The change as it may be published, with its taint, evidence and state. Absent when refused. */
  readonly change?: ProposedChange;
}

export const NO_COST: Cost = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };

export function addCost(a: Cost, b: Cost): Cost {
  const unpricedTokens = (a.unpricedTokens ?? 0) + (b.unpricedTokens ?? 0);
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    usd: a.usd + b.usd,
    ...(unpricedTokens === 0 ? {} : { unpricedTokens }),
  };
}
