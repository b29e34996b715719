import type { Config } from '../../config/schema.ts';
import type { Ask } from '../../core/learn.ts';
import { NO_COST } from '../../learn/cost.ts';
import { createVerifiers } from '../../signals/verifiers/registry.ts';

const NO_ASK: Ask = async () => ({ ok: false, why: 'not asked', isRetryable: true, cost: NO_COST });

/** A verifier that cannot be made is an error at the start, not a grade that is missing later. */
export const checkVerifiers = async (verifiers: Config['learn']['verifiers']): Promise<void> =>
  void (await createVerifiers(verifiers, { ask: NO_ASK }));
