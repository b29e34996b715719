import type { Config } from '../../config/schema.ts';
import { createFailure } from '../../core/failure.ts';
import type { OwnPolicy } from '../../models/catalogue.ts';
import { policyName } from './policy-name.ts';
import type { ServedPolicy } from './serve-policy.ts';

const hasKey = ({ engine, serve }: Config['train']): boolean =>
  (serve ?? (typeof engine === 'object' ? engine : undefined))?.keyEnv !== undefined;

/** Names are given out before there is a record, and the policy needs one: until then it is not there yet. */
export function createLatePolicy(
  settings: Config['train'],
  served: () => ServedPolicy | undefined,
): OwnPolicy | undefined {
  const name = policyName(settings);
  if (name === undefined) return undefined;
  return {
    name,
    // As with a provider's: whoever would use a key of ours must show Instar's.
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
