import type { Appraisal } from './evidence.ts';
import type { RewardSource } from './fact.ts';
import type { Json } from './json.ts';
import type { Change, Scope } from './lesson.ts';
import type { Library } from './library.ts';

/** What learning has cost. */
export interface Cost {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
}

/** Money that may still be spent. */
export interface Budget {
  /** Undefined when the next call may be made, else why not. */
  refusal(): string | undefined;
  spend(cost: Cost): void;
}

/** What is wrong with a model's reply, in words that help it mend it. */
export interface Fault {
  readonly fault: string;
}

/** One question to a learning model. Its reply is JSON, read by `read`, asked for once more when it is not right. */
export interface Question<T> {
  /** For the journal: `evolve`, `judge`, `extract`. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  read(value: Json): T | Fault;
}

export type Answer<T> =
  | {
      readonly ok: true;
      readonly value: T;
      readonly cost: Cost;
      readonly model: string;
      readonly prompt: string;
    }
  /** `isRetryable`: the model was not there or the budget is spent; the same question may do later. */
  | { readonly ok: false; readonly why: string; readonly isRetryable: boolean; readonly cost: Cost };

/** Never rejects. The only way to a model for learning: whatever a model says comes through here. */
export type Ask = <T>(question: Question<T>, signal: AbortSignal) => Promise<Answer<T>>;

/** Whose words a passage is. Only a user's, a person's and a verifier's may become an instruction without being looked at. */
export type Origin = 'user' | 'person' | 'verifier' | 'assistant' | 'tool' | 'web';

export interface Passage {
  readonly origin: Origin;
  readonly text: string;
}

/** Something that went wrong, as much of it as a learner needs. */
export interface FailureCase {
  readonly turn: string;
  readonly session: string;
  readonly at: number;
  readonly generation: number;
  readonly scope: Scope;
  /** What the agent was to do. */
  readonly task: string;
  /** The words of everyone, digested, in order. */
  readonly passages: readonly Passage[];
  readonly appraisal: Appraisal;
  /** The most trusted source that calls it a failure. */
  readonly source: RewardSource;
}

/** A change that a learner wants, with what it rests on. The gate says how far it may go. */
export interface Proposal {
  readonly change: Extract<Change, { readonly op: 'add' | 'revise' }>;
  /** Verbatim passages of what was recorded. */
  readonly quotes: readonly { readonly turn: string; readonly text: string }[];
}

export interface LearnInput<Material> {
  readonly material: Material;
  readonly library: Library;
  /** Undefined when no model is set up for learning. */
  readonly ask: Ask | undefined;
  readonly newId: (prefix: string) => string;
  /** What a learner wants to remember of its own steps. */
  readonly journal: (note: string) => void;
  readonly signal: AbortSignal;
}

/** Every learner has this shape. It writes nothing but its journal; it ends early when the signal aborts. */
export interface Learner<Material> {
  readonly name: string;
  learn(input: LearnInput<Material>): AsyncIterable<Proposal | Known | Stuck>;
}

/** A lesson says already what these failures teach: nothing has to change, and they are used up. */
export interface Known {
  /** The lesson's id. */
  readonly known: string;
  readonly turns: readonly string[];
}

/** The model was not there, or said nothing that could be used: the material is not used up. */
export interface Stuck {
  readonly stuck: string;
  readonly isRetryable: boolean;
}

/** How far a proposal may go. */
export type GateOutcome = 'live' | 'trial' | 'proposed' | 'refused';

export interface Judgement {
  readonly outcome: GateOutcome;
  /** Why not further; empty when nothing stood against it. */
  readonly why: readonly string[];
  /** Refused because a lesson says the same. */
  readonly isKnown?: boolean;
  /** The change as it may be published: with its taint, its evidence and its state. Absent when refused. */
  readonly change?: Extract<Change, { readonly op: 'add' | 'revise' }>;
}
