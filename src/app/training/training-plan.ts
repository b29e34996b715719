import type { Template } from '../../core/policy.ts';
import type { TaskSourceRef } from '../../core/task-source.ts';
import type { RateSchedule } from '../../train/learning-rate.ts';
import type { Promotion } from '../../train/promotion.ts';
import type { ProfileName } from '../../train/tinker/profiles.ts';
import type { TinkerEngine } from '../../train/tinker/tinker-engine.ts';
import type { StepSettings } from '../../train/train-step.ts';

/** One training window as plain data, for the training thread. */
export interface TrainingPlan {
  readonly engine: EnginePlace;
  /** The chat template: of the model whose tokenizer is in a folder, or what a module's `openTemplate()` returns. */
  readonly template: { readonly folder: string } | { readonly module: string };
  /** Where this engine's runs are kept. */
  readonly folder: string;
  /** Tasks besides the recorded ones, and those the new weights are measured on; only recorded tasks by default. */
  readonly tasks?: TaskSourceRef;
  readonly steps: number;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  /** Whether live turns are used besides groups. */
  readonly isLive: boolean;
  readonly tuning: Tuning;
  /** The promotion state when the window begins. */
  readonly promotion: Promotion;
  /** Versions that were rolled back after serving. */
  readonly turnedBack: readonly number[];
}

/** A server that speaks the Tinker protocol. */
export interface EnginePlace {
  readonly url: string;
  readonly key?: string;
  readonly baseModel: string;
  readonly profile: ProfileName;
  /** Whether the self-test runs on connecting. */
  readonly isTested: boolean;
}

export interface Tuning {
  /** The engine's default if not given. */
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  readonly seed?: number;
  /** An ablation: what the trainer still learns, it did not learn from what was taken away. */
  readonly control?: 'shuffled-rewards' | 'no-lessons';
}

/** The engine that samples and trains the policy, in a child process or on a server. It is started when first asked for. */
export interface PolicyEngine {
  /** The policy's name, which follows `instar/` in requests. */
  readonly name: string;
  readonly isEmbedded: boolean;
  template(): Promise<Template>;
  /** For those who open a connection of their own. The engine is up when this resolves. */
  place(): Promise<Pick<TrainingPlan, 'engine' | 'template'>>;
  /** The engine is up when this resolves. Rejects with a TrainingError; the next call tries again. */
  connect(): Promise<TinkerEngine>;
  state(): 'idle' | 'starting' | 'up' | 'down';
  close(): Promise<void>;
}

/** The part of the configuration that training reads. */
export interface TrainSettings {
  readonly engine: 'off' | 'nano' | { readonly baseModel: string };
  readonly steps: number;
  readonly batchSize: number;
  readonly groupSize: number;
  readonly loraRank: number;
  readonly live: boolean;
  /** A vLLM that serves the adapters. */
  readonly serve?:
    | {
        readonly vllm: string;
        readonly keyEnv?: string | undefined;
        readonly model?: string | undefined;
      }
    | undefined;
}
