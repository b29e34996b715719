import type { Usage } from '../../src/core/chat.ts';
import type { GatewayClient } from '../../src/core/gateway-client.ts';
import type { StageReport } from '../../src/pipeline/stage-outcome.ts';
import type { Condition } from './arms.ts';
import type { DayOfLearning, NightRecord } from './run-records.ts';

/** A lesson as a report needs it. */
interface EnvironmentLesson {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly text: string;
}

/** A lesson that prompts may contain. */
export interface PromptLesson extends EnvironmentLesson {
  /** As an index shows it. */
  readonly line: string;
}

/** A part of the system prompt that the arm adds to a day's own. */
export interface PromptAddition {
  readonly text: string;
  /** Ids of the lessons in it. */
  readonly lessons: readonly string[];
}

/** What learning has cost so far today, besides the policy's own answers. */
export type LearningCost = Pick<DayOfLearning, 'calls' | 'tokens' | 'usd'>;

/** Where a run takes place: Instar between an agent and a policy, under one condition, with a library of its own. */
export interface BenchEnvironment {
  readonly speak: GatewayClient;
  /** The policy's model name. */
  readonly model: string;
  /** The user's feedback on a turn, from -1 to 1. Durable when it resolves. */
  judge(turn: string, score: number, note: string): Promise<void>;
  /** Where a pipeline reports its stages. */
  readonly report: StageReport;
  /** Resolves when everything recorded so far has been learned from. */
  settle(): Promise<void>;
  lessons(): Promise<readonly EnvironmentLesson[]>;
  /** What the policy's tokens cost, where its provider has a price. */
  readonly usdOf?: (usage: Usage) => number;
  /** Milliseconds spent in the policy itself so far. */
  policyMs(): number;
  /** The training after a day; undefined where no weights are trained. */
  readonly night?: (day: number, signal: AbortSignal, watch: OnNightStep) => Promise<NightResult>;
  /** Saves what was learned, so that a run can continue after this day. */
  save(day: number): Promise<void>;
  close(): Promise<void>;
}

/** With what the arms of a question suite differ by. */
export interface ArmEnvironment extends BenchEnvironment {
  /** Those that prompts may contain now. */
  library(): Promise<readonly PromptLesson[]>;
  /** The lessons that the gateway put into a turn's prompt, by id: with their whole text, or by their index line only. */
  shown(turn: string): Promise<{ readonly bodies: readonly string[]; readonly lines: readonly string[] }>;
  /** Undefined for an arm that adds nothing. */
  addition(): Promise<PromptAddition | undefined>;
  /** The user's feedback on a wrong answer, for an arm that keeps notes. */
  hear(feedback: string): void;
  learningCost(): Promise<LearningCost>;
}

/** The result of a night of training. */
export type NightResult = Omit<NightRecord, 'condition' | 'seed' | 'day'>;

/** The progress of a night. */
export interface NightSteps {
  readonly step: number;
  /** Planned steps. */
  readonly steps: number;
  /** Held-out tasks compared so far; 0 until training is done. */
  readonly pairs: number;
}
type OnNightStep = (soFar: NightSteps) => void;

export interface EnvironmentOptions {
  readonly condition: Condition;
  readonly seed: number;
  /** Continue after this day; undefined: from the beginning. */
  readonly after: number | undefined;
}

export type OpenEnvironment = (options: EnvironmentOptions) => Promise<BenchEnvironment>;
export type OpenArmEnvironment = (options: EnvironmentOptions) => Promise<ArmEnvironment>;
