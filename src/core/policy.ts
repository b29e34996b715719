import type { ChatRequest } from './chat.ts';
import type { SampledSequence, Sampler } from './training.ts';

/** How a policy that reads and writes tokens is spoken with: a conversation to ids, ids to a reply. */
export interface Template {
  render(request: ChatRequest): Rendered;
  /** What sampled ids say. Never throws: a policy in training says all kinds of things. */
  read(tokens: readonly number[], request: ChatRequest): PolicyReply;
  /** At which tokens a reply ends. */
  readonly stop: readonly number[];
  /** In tokens; a request that asks for less gets less. */
  readonly longestReply: number;
}

export type Rendered =
  | { readonly is: 'prompt'; readonly tokens: readonly number[] }
  /** There is nothing to ask the policy: this is the answer. */
  | { readonly is: 'reply'; readonly reply: PolicyReply };

export interface PolicyReply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

/** Weights that answer a turn. Their sampler stays open until they are let go of, whatever serves by then. */
export interface ServedWeights {
  readonly version: number;
  readonly sampler: Sampler;
  release(): void;
}

/** One reply of a policy in tokens, as it was sampled: what weights can learn from. */
export interface SampledTurn extends Pick<SampledSequence, 'tokens' | 'logprobs'> {
  readonly prompt: readonly number[];
  readonly version: number;
  readonly temperature: number;
}
