import type { ChatRequest } from './chat.ts';

/** A server that trains LoRA adapters of a model and samples from them, in tokens. */
export interface TrainingEngine {
  readonly profile: EngineProfile;
  createModel(options: { readonly rank: number; readonly seed?: number }): Promise<TrainingModel>;
  /** Restores a model saved by `saveState`, with its optimiser state. */
  openModel(path: string): Promise<TrainingModel>;
  /** `path`: the result of `saveForSampler`; undefined: the base model. */
  openSampler(path: string | undefined): Promise<Sampler>;
  close(): Promise<void>;
}

/** How engines of the same protocol differ. */
export interface EngineProfile {
  readonly name: string;
  readonly baseModel: string;
  readonly wire: 'json' | 'protobuf';
  readonly losses: readonly LossKind[];
  /** Whether the loss is summed over tokens, or each sequence is divided by the sum of its weights. */
  readonly reduction: 'sum' | 'mean-per-sequence';
  readonly learningRate: number;
  readonly contextLength: number;
  /** Names of the datum tensors that it accepts. */
  readonly inputs: readonly string[];
  /** It samples on other machines than it trains on: each would wait for the other. */
  readonly samplesApart?: boolean;
  /** Whether it reads the settings of a loss in the typed map that SDK 0.36 added (`loss_fn_config_v2`). */
  readonly readsTypedConfig?: boolean;
}

export type LossKind = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo';

/** One sequence to learn from; all arrays have the length of `tokens`. Masked positions have weight and advantage 0. */
export interface TrainDatum {
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
  readonly advantages?: readonly number[];
  /** The sampler's log-probabilities of the targets. */
  readonly logprobs?: readonly number[];
}

export interface StepInput {
  readonly data: readonly TrainDatum[];
  readonly loss: LossKind;
  readonly config?: Readonly<Record<string, number>>;
}

export interface StepOutput {
  /** Log-probabilities of the targets, per datum. */
  readonly logprobs: readonly (readonly number[])[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** A submitted operation. Rejects with a TrainingError. */
export interface Pending<T> {
  readonly done: Promise<T>;
}

/** One adapter in training. Operations take effect in the order of submission; several may be submitted before awaiting. */
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

/** `user`: the request is wrong, and a retry will not help. */
export class TrainingError extends Error {
  override readonly name = 'TrainingError';
  readonly category: 'user' | 'server' | 'unknown';
  /** `no-tasks`: nothing is wrong, there is only nothing to train on. */
  readonly code: 'no-tasks' | undefined;

  constructor(category: TrainingError['category'], message: string, code?: 'no-tasks') {
    super(message);
    this.category = category;
    this.code = code;
  }
}

/** The chat template of a policy: encodes a conversation as token ids and decodes a reply from them. */
export interface PolicyTemplate {
  render(request: ChatRequest): TemplateOutput;
  /** Decodes sampled ids. Never throws: a policy in training emits malformed output. */
  read(tokens: readonly number[], request: ChatRequest): PolicyReply;
  /** The tokens of a reply in words, with the one that ends it. */
  write(text: string): readonly number[];
  /** The tokens that end a reply. */
  readonly stop: readonly number[];
  /** In tokens; a request may ask for less. */
  readonly longestReply: number;
}

type TemplateOutput =
  | { readonly is: 'prompt'; readonly tokens: readonly number[] }
  /** The reply is known without sampling. */
  | { readonly is: 'reply'; readonly reply: PolicyReply };

export interface PolicyReply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

/** The weights that answer a turn. Their sampler stays open until `release`, also after other weights took over. */
export interface ServedWeights {
  readonly version: number;
  readonly sampler: Sampler;
  release(): void;
}

/** One sampled reply of a policy, in tokens, to train on. */
export interface SampledTurn extends Pick<SampledSequence, 'tokens' | 'logprobs'> {
  readonly prompt: readonly number[];
  readonly version: number;
  readonly temperature: number;
}
