import type { ChatModel, ChatOptions } from '../core/chat.ts';
import { createFailure } from '../core/failure.ts';
import type { VllmAdapters } from './vllm-adapters.ts';

export interface AdapterModelOptions {
  /** A model at the same server that requests the name in the request. */
  readonly model: ChatModel;
  readonly adapters: Pick<VllmAdapters, 'borrow'>;
  /** The version that answers a turn, read once at its start; undefined: the base model, by the request's name. */
  readonly versionOf: (options: ChatOptions) => number | undefined;
}

/** Answers a turn with one version from its first token to its last, even if another version serves by then. */
export function withAdapters({ model, adapters, versionOf }: AdapterModelOptions): ChatModel {
  return (request, options) => ({
    async *[Symbol.asyncIterator]() {
      const version = versionOf(options);
      // Chosen and borrowed in the same tick, so it cannot be unloaded in between.
      const borrowed = version === undefined ? undefined : adapters.borrow(version);
      if (version !== undefined && borrowed === undefined) {
        const message = `Version ${version} of the policy is not loaded. Load it again, or roll back.`;
        yield { type: 'failure', failure: createFailure('overloaded', message) };
        return;
      }
      try {
        yield* model(borrowed === undefined ? request : { ...request, model: borrowed.model }, options);
      } finally {
        borrowed?.release();
      }
    },
  });
}
