import {
  createNullPolicy,
  createScriptedPolicy,
  type Habits,
  ORACLE,
} from '../../bench/policies/scripted-policy.ts';
import type { Config } from '../../config/schema.ts';
import { BenchError } from './bench-error.ts';
import type { Policy } from './open-bed.ts';
import type { LoadedSuite } from './suites.ts';

/** The defaults of the scripted policy. */
export const USUAL_HABITS: Habits = { obey: 0.9, unaided: 0.05, read: 0.6 };

/** The policy that ships with Instar: the only one whose weights can be trained here. */
export const NANO = 'nano';

/** The policy of this name: a built-in one, or a model from the user's configuration as `provider/model` or an alias. */
export function choosePolicy(name: string, suite: LoadedSuite, habits: Habits, config: () => Config): Policy {
  if (name === 'null') return { kind: 'own', model: () => createNullPolicy() };
  if (name === 'scripted' || name === 'oracle') {
    const kept = name === 'oracle' ? ORACLE : habits;
    return {
      kind: 'own',
      model: (seed) => createScriptedPolicy({ suite: suite.of(seed), habits: kept, seed: `policy ${seed}` }),
    };
  }
  if (name === NANO) return { kind: 'embedded' };
  const own = config();
  const provider = name.split('/', 1)[0] ?? '';
  if (Object.hasOwn(own.providers, provider) || Object.hasOwn(own.models, name))
    return { kind: 'configured', name, config: own };
  throw new BenchError(
    `No policy named "${name}".`,
    'use scripted, nano, oracle or null, or a model of your config as provider/model',
  );
}
