import type { EngineProfile, LossKind } from '../../core/training.ts';

/** What is known of a kind of server before it is talked to. */
export interface ServerTraits
  extends Pick<EngineProfile, 'name' | 'losses' | 'reduction' | 'learningRate' | 'inputs'> {
  /** Undefined: found out by trying. */
  readonly wire: EngineProfile['wire'] | undefined;
  /** When the server does not say. */
  readonly contextLength: number;
  /** It knows `allow_metadata_only`, and says how large a result is before it sends it. */
  readonly announces: boolean;
  /**
   * A training request that comes twice, under one key and number, is done once, and the second gets the answer of the
   * first. To others it is sent once, whatever comes of it.
   */
  readonly knowsRepeats: boolean;
  /** It samples a checkpoint by putting it where the model that saved it is trained. */
  readonly samplesInPlace: boolean;
  readonly tolerance: Tolerance;
}

/** How far the numbers of a sampler and of a trainer may lie apart that claim to be the same model. */
export interface Tolerance {
  /** Of the log-probability of one token. */
  readonly difference: number;
  /** KL(sampler || trainer) for each token. */
  readonly kl: number;
  /** Of the same computation, done twice. */
  readonly drift: number;
}

export type ProfileName = 'tinker' | 'skyrl' | 'tuft' | 'nano' | 'generic';

const INPUTS = ['target_tokens', 'weights', 'advantages', 'logprobs'];
const LOSSES: readonly LossKind[] = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'];

/** bfloat16 on two different stacks: single tokens lie far apart, the mean must not. */
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
  /** Answers 415 to a forward_backward in JSON, and a repeat with a conflict. */
  tuft: { ...TINKER, name: 'tuft', announces: false, knowsRepeats: false },
  /** float32 on both sides, and a model so small that it takes large steps. */
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
