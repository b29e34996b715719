import type { Ask } from '../../core/learn.ts';
import { createVerifiers } from '../../signals/verifiers/registry.ts';

const NO_ASK: Ask = async () => ({
  ok: false,
  why: 'not asked',
  isRetryable: true,
  cost: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
});

/** Rejects with a VerifierError at the start, instead of a missing grade later. */
export const checkVerifiers = async (verifiers: readonly unknown[]): Promise<void> =>
  void (await createVerifiers(verifiers, { ask: NO_ASK }));
