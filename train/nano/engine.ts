/** A language model that can be sampled and trained, in tokens. A training server exposes one over HTTP. */
export interface Engine {
  readonly model: EngineModel;
  /** A new adapter, which does not change the model's output yet. Resolves with its name. */
  createAdapter(options: LoraOptions): Promise<string>;
  /** Log-probabilities of the targets, and the loss. Without an adapter it is the base model. */
  forward(adapter: string | undefined, batch: TrainBatch): Promise<BatchResult>;
  /** The same, and adds the gradient to the gradients accumulated since the last step. */
  forwardBackward(adapter: string, batch: TrainBatch): Promise<BatchResult>;
  /** One optimizer step along the accumulated gradients, which are then reset. */
  optimStep(adapter: string, adam: AdamParams): Promise<Readonly<Record<string, number>>>;
  /** A frozen copy of an adapter's weights, to sample from while training goes on. Resolves with its name. */
  freeze(adapter: string): Promise<string>;
  /** `weights` is an adapter, a frozen copy, or undefined for the base model. */
  sample(weights: string | undefined, request: SampleRequest, signal: AbortSignal): Promise<SampleResult>;
  /** The complete adapter, from which training continues exactly. `withOptimizer` false leaves the optimizer's state out. */
  save(adapter: string, withOptimizer: boolean): Promise<Uint8Array>;
  /** Rejects with an EngineError for bytes that are not a saved adapter of this model. */
  load(saved: Uint8Array, withOptimizer: boolean): Promise<string>;
  /** Frees an adapter or a frozen copy. */
  dispose(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface EngineModel {
  readonly name: string;
  readonly vocabulary: number;
  readonly contextLength: number;
  readonly layers: number;
  readonly width: number;
}

export interface LoraOptions {
  readonly rank: number;
  readonly alpha: number;
  readonly seed: number;
  readonly attention: boolean;
  readonly mlp: boolean;
}

export const LOSSES = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'] as const;
export type LossName = (typeof LOSSES)[number];

/** The loss is summed over tokens, never averaged: for a mean, scale the weights or the advantages. */
export interface TrainBatch {
  readonly loss: LossName;
  /** For ppo and cispo: ratios are clipped to [low, high]; 0.8 and 1.2 by default. */
  readonly clip?: { readonly low: number; readonly high: number };
  readonly data: readonly Datum[];
}

/** One sequence. All arrays have the length of `tokens`; `targets[i]` is the token that should follow `tokens[i]`. */
export interface Datum {
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  /** 1 by default; for losses other than cross_entropy, 0 masks a token out. */
  readonly weights?: Float32Array;
  /** For all losses but cross_entropy. */
  readonly advantages?: Float32Array;
  /** The targets' log-probabilities when they were sampled. */
  readonly logprobs?: Float32Array;
}

export interface BatchResult {
  /** Log-probabilities of the targets, one array for each datum. */
  readonly logprobs: readonly Float32Array[];
  /** Such as `loss:sum`; the part after the colon says how to merge the metrics of several batches. */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface AdamParams {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** 0: no clipping. */
  readonly gradClipNorm: number;
}

export interface SampleRequest {
  readonly prompt: Int32Array;
  /** How many sequences to sample. The prompt is processed once for all. */
  readonly count: number;
  readonly maxTokens: number;
  /** 0: always the most likely token. */
  readonly temperature: number;
  /** -1: no limit. */
  readonly topK: number;
  readonly topP: number;
  readonly seed: number;
  readonly stop: readonly number[];
  readonly wantsPromptLogprobs?: boolean;
}

export interface SampleResult {
  readonly sequences: readonly Sequence[];
  /** NaN for the first token. */
  readonly promptLogprobs?: Float32Array;
}

export interface Sequence {
  readonly tokens: Int32Array;
  /** At temperature 1, whatever the temperature of the request was. */
  readonly logprobs: Float32Array;
  readonly stop: 'stop' | 'length';
}

/** The call was invalid: the caller's fault. The engine is unchanged. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}
