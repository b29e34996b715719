import type { ServedPolicy } from '../../train/serve-policy.ts';
import { policyName } from '../config/model-ref.ts';
import type { Config } from '../config/schema.ts';
import { createFailure } from '../core/failure.ts';
import type { OwnPolicy } from '../models/catalogue.ts';

const hasKey = ({ engine, serve }: Config['train']): boolean =>
  (serve ?? (typeof engine === 'object' ? engine : undefined))?.keyEnv !== undefined;

/** The policy in the model catalogue, which is built before the policy itself can be: until then it answers `overloaded`. */
export function createDeferredPolicy(
  settings: Config['train'],
  served: () => ServedPolicy | undefined,
): OwnPolicy | undefined {
  const name = policyName(settings);
  if (name === undefined) return undefined;
  return {
    name,
    // As for a provider: a caller that makes use of our key needs Instar's key.
    isKeyed: hasKey(settings),
    label: (session) => served()?.label(session) ?? `instar/${name}`,
    chat: async function* (request, options) {
      const policy = served();
      if (policy === undefined)
        yield { type: 'failure', failure: createFailure('overloaded', 'Instar is starting.') };
      else yield* policy.chat(request, options);
    },
  };
}
