import type { ChatRequest } from './chat.ts';
import type { SampledSequence, Sampler } from './training.ts';

/** The chat template of a policy: encodes a conversation as token ids and decodes a reply from them. */
export interface Template {
  render(request: ChatRequest): Rendered;
  /** Decodes sampled ids. Never throws: a policy in training emits malformed output. */
  read(tokens: readonly number[], request: ChatRequest): PolicyReply;
  /** The tokens that end a reply. */
  readonly stop: readonly number[];
  /** In tokens; a request may ask for less. */
  readonly longestReply: number;
}

export type Rendered =
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
