/** A server that trains adapters of a model and samples from them, in tokens. */
export interface TrainingEngine {
  readonly profile: EngineProfile;
  createModel(options: { readonly rank: number; readonly seed?: number }): Promise<TrainingModel>;
  /** A model as `saveState` left it, optimiser included. */
  openModel(path: string): Promise<TrainingModel>;
  /** `path`: what `saveForSampler` answered; undefined: the bare model. */
  openSampler(path: string | undefined): Promise<Sampler>;
  close(): Promise<void>;
}

/** In what engines of the same protocol differ. */
export interface EngineProfile {
  readonly name: string;
  readonly baseModel: string;
  readonly wire: 'json' | 'protobuf';
  readonly losses: readonly LossKind[];
  /** Whether the loss is summed over tokens, or each sequence is divided by the sum of its weights. */
  readonly reduction: 'sum' | 'mean-per-sequence';
  readonly learningRate: number;
  readonly contextLength: number;
  /** Names of a datum's tensors that it takes. */
  readonly inputs: readonly string[];
}

export type LossKind = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo';

/** One sequence to learn from; all arrays have the length of `tokens`. Masked positions have weight and advantage 0. */
export interface TrainDatum {
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
  readonly advantages?: readonly number[];
  /** What the sampler gave the targets. */
  readonly logprobs?: readonly number[];
}

export interface StepInput {
  readonly data: readonly TrainDatum[];
  readonly loss: LossKind;
  readonly config?: Readonly<Record<string, number>>;
}

export interface StepOutput {
  /** Of the targets, per datum. */
  readonly logprobs: readonly (readonly number[])[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** Something that was submitted, in order, and will be done. Rejects with a TrainingError. */
export interface Pending<T> {
  readonly done: Promise<T>;
}

/** One adapter in training. Submissions take effect in the order in which they were made; both may be made before awaiting. */
export interface TrainingModel {
  readonly id: string;
  forward(input: StepInput, signal: AbortSignal): Promise<StepOutput>;
  forwardBackward(input: StepInput, signal: AbortSignal): Pending<StepOutput>;
  optimStep(adam: AdamSettings, signal: AbortSignal): Pending<Readonly<Record<string, number>>>;
  /** Answers with a path. */
  saveState(name: string): Promise<string>;
  saveForSampler(name: string): Promise<string>;
  close(): Promise<void>;
}

export interface AdamSettings {
  readonly learningRate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly eps?: number;
  readonly weightDecay?: number;
  readonly gradClipNorm?: number;
}

export interface Sampler {
  sample(request: SamplerRequest, signal: AbortSignal): Promise<readonly SampledSequence[]>;
  close(): Promise<void>;
}

export interface SamplerRequest {
  readonly prompt: readonly number[];
  readonly count: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly stop: readonly number[];
  readonly seed?: number;
}

export interface SampledSequence {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly stop: 'stop' | 'length';
}

/** `user`: what was asked is wrong, and asking again will not help. */
export class TrainingError extends Error {
  override readonly name = 'TrainingError';
  readonly category: 'user' | 'server' | 'unknown';

  constructor(category: TrainingError['category'], message: string) {
    super(message);
    this.category = category;
  }
}
