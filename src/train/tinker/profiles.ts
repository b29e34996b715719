import type { EngineProfile, LossKind } from '../../core/training.ts';

/** What is known about a kind of server before connecting. */
export interface ServerTraits
  extends Pick<
    EngineProfile,
    'name' | 'losses' | 'reduction' | 'learningRate' | 'inputs' | 'readsTypedConfig'
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
  readonly tolerance: Tolerance;
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
  tolerance: LOOSE,
};

export const PROFILES: Readonly<Record<ProfileName, ServerTraits>> = {
  tinker: TINKER,
  /** Divides each sequence by the sum of its weights, and the gradient by the number of sequences. */
  skyrl: {
    ...TINKER,
    name: 'skyrl',
    wire: 'json',
    reduction: 'mean-per-sequence',
    announces: false,
    knowsRepeats: false,
    samplesInPlace: true,
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
