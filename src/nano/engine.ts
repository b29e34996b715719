/** A language model that can be sampled and trained, in tokens. What the routes of a training server stand for. */
export interface Engine {
  readonly model: EngineModel;
  /** A new adapter, which changes nothing yet. Answers with its name. */
  createAdapter(options: LoraOptions): Promise<string>;
  /** Log-probabilities of the targets, and what the loss would be. `adapter` undefined: the bare model. */
  forward(adapter: string | undefined, batch: Batch): Promise<BatchResult>;
  /** The same, and its gradient is added to what has gathered since the last step. */
  forwardBackward(adapter: string, batch: Batch): Promise<BatchResult>;
  /** One step along what has gathered, which is then forgotten. */
  optimStep(adapter: string, adam: AdamParams): Promise<Readonly<Record<string, number>>>;
  /** A frozen copy of an adapter's weights, to sample from while training goes on. Answers with its name. */
  freeze(adapter: string): Promise<string>;
  /** `weights` is an adapter, a frozen copy, or undefined for the bare model. */
  sample(weights: string | undefined, request: SampleRequest, signal: AbortSignal): Promise<SampleResult>;
  /** All of an adapter, so that training goes on from it as if nothing had happened; without the optimiser on request. */
  save(adapter: string, withOptimizer: boolean): Promise<Uint8Array>;
  /** Rejects with an EngineError for bytes that are not a saved adapter of this model. */
  load(saved: Uint8Array, withOptimizer: boolean): Promise<string>;
  /** Adapters and frozen copies alike. */
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

/** Summed over tokens, never averaged: whoever wants a mean scales the weights or the advantages. */
export interface Batch {
  readonly loss: LossName;
  /** Of ppo and cispo: ratios are clipped to [low, high]; 0.8 and 1.2 unless said. */
  readonly clip?: { readonly low: number; readonly high: number };
  readonly data: readonly Datum[];
}

/** One sequence. All but `tokens` have its length; `targets[i]` is what should follow `tokens[i]`. */
export interface Datum {
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  /** Of cross_entropy: 1 unless said. Of the others: 0 masks a token out. */
  readonly weights?: Float32Array;
  /** Of all but cross_entropy. */
  readonly advantages?: Float32Array;
  /** What the sampler gave the targets. */
  readonly logprobs?: Float32Array;
}

export interface BatchResult {
  /** Of the targets, one array for each datum. */
  readonly logprobs: readonly Float32Array[];
  /** `loss:sum` and others. */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface AdamParams {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** 0: not clipped. */
  readonly gradClipNorm: number;
}

export interface SampleRequest {
  readonly prompt: Int32Array;
  /** Sequences from the one prompt, which is read once. */
  readonly count: number;
  readonly maxTokens: number;
  /** 0: the likeliest token each time. */
  readonly temperature: number;
  /** -1: all. */
  readonly topK: number;
  readonly topP: number;
  readonly seed: number;
  readonly stop: readonly number[];
  readonly wantsPromptLogprobs?: boolean;
}

export interface SampleResult {
  readonly sequences: readonly Sequence[];
  /** The first has none. */
  readonly promptLogprobs?: Float32Array;
}

export interface Sequence {
  readonly tokens: Int32Array;
  /** Under the weights and at temperature 1, whatever the temperature was. */
  readonly logprobs: Float32Array;
  readonly stop: 'stop' | 'length';
}

/** What was asked cannot be done: the asker's fault, and the engine goes on. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}
