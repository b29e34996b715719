import type { EngineProfile, LossKind } from '../../src/core/training.ts';

/** What is known about a kind of server before connecting. */
export interface ServerTraits
  extends Pick<
    EngineProfile,
    'name' | 'losses' | 'reduction' | 'learningRate' | 'inputs' | 'readsTypedConfig' | 'samplesApart'
  > {
  /** Undefined: detected. */
  readonly wire: EngineProfile['wire'] | undefined;
  /** Used when the server does not report one. */
  readonly contextLength: number;
  /** It supports `allow_metadata_only`: it announces a result's size before sending it. */
  readonly announces: boolean;
  /** It deduplicates training requests by idempotency key and `seq_id`. To other servers a training request is never sent twice. */
  readonly knowsRepeats: boolean;
  /** It samples a checkpoint by loading it over the model that saved it. */
  readonly samplesInPlace: boolean;
  /** It divides the gradient of a step by the number of sequences since the last step, whatever their weights. */
  readonly dividesByCount: boolean;
  /** It compiles a program for each number of sequences: requests are filled up. Undefined: no number costs more than another. */
  readonly fills: BatchMultiples | undefined;
  readonly tolerance: Tolerance;
}

/** Numbers of sequences are multiples of these. */
interface BatchMultiples {
  /** Of a forward or forward_backward. */
  readonly train: number;
  /** Of the samples that are drawn together. */
  readonly sample: number;
}

/** How far sampler and trainer of the same model may differ. */
export interface Tolerance {
  /** Of the log-probability of one token. */
  readonly difference: number;
  /** KL(sampler || trainer) per token. */
  readonly kl: number;
  /** Between two runs of the same computation. */
  readonly drift: number;
}

export type ProfileName = 'tinker' | 'skyrl' | 'tuft' | 'nano' | 'generic';

const INPUTS = ['target_tokens', 'weights', 'advantages', 'logprobs'];
const LOSSES: readonly LossKind[] = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'];

/** For bfloat16 on two different stacks: single tokens differ a lot, the mean must not. */
const LOOSE: Tolerance = { difference: 0.5, kl: 0.01, drift: 0.02 };

const TINKER: ServerTraits = {
  name: 'tinker',
  wire: 'protobuf',
  losses: LOSSES,
  reduction: 'sum',
  learningRate: 1e-4,
  inputs: INPUTS,
  contextLength: 32_768,
  announces: true,
  knowsRepeats: true,
  samplesInPlace: false,
  dividesByCount: false,
  fills: undefined,
  tolerance: LOOSE,
};

export const PROFILES: Readonly<Record<ProfileName, ServerTraits>> = {
  tinker: { ...TINKER, samplesApart: true },
  /**
   * Divides each sequence by the sum of its weights, and the gradient by the number of sequences. Its JAX engine cuts what is
   * pending into micro-batches and compiles the last, smaller one anew (10 to 35 s): with multiples of 16 there are at most two
   * shapes for each length, whatever `train_micro_batch_size` is. Samples fill a `sample_max_num_sequences` that is a multiple of 8.
   */
  skyrl: {
    ...TINKER,
    name: 'skyrl',
    wire: 'json',
    reduction: 'mean-per-sequence',
    announces: false,
    knowsRepeats: false,
    samplesInPlace: true,
    dividesByCount: true,
    fills: { train: 16, sample: 8 },
  },
  /** Answers 415 to a forward_backward in JSON, and 409 to a repeated request. */
  tuft: { ...TINKER, name: 'tuft', announces: false, knowsRepeats: false },
  /** float32 on both sides; a small model that needs large steps. */
  nano: {
    ...TINKER,
    name: 'nano',
    learningRate: 5e-3,
    contextLength: 512,
    tolerance: { difference: 1e-2, kl: 1e-4, drift: 1e-5 },
  },
  generic: {
    ...TINKER,
    name: 'generic',
    wire: undefined,
    contextLength: 4096,
    announces: false,
    knowsRepeats: false,
  },
};
