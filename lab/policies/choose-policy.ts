import type { Config } from '../../src/config/schema.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import type { ResearchPipeline } from '../pipeline/research-pipeline.ts';
import {
  createNullResearcher,
  createOracleResearcher,
  createScriptedResearcher,
} from '../pipeline/scripted-researcher.ts';
import type { BenchPolicy } from '../run/open-environment.ts';
import { BenchError, type LoadedSuite } from '../run/suites.ts';
import { createNullPolicy, createScriptedPolicy, type Habits, ORACLE } from './scripted-policy.ts';

/** The defaults of the scripted policy. */
export const DEFAULT_HABITS: Habits = { obey: 0.9, unaided: 0.05, read: 0.6 };

/** The policy that ships with Instar: the only one whose weights can be trained here. */
export const NANO_POLICY = 'nano';

/** The policy of this name: a built-in one, or a model from the user's configuration as `provider/model` or an alias. */
export function choosePolicy(
  name: string,
  suite: LoadedSuite,
  habits: Habits,
  config: () => Config,
): BenchPolicy {
  if (name === 'null') return { kind: 'own', model: () => createNullPolicy() };
  if (name === 'scripted' || name === 'oracle') {
    const kept = name === 'oracle' ? ORACLE : habits;
    return {
      kind: 'own',
      model: (seed) => createScriptedPolicy({ suite: suite.of(seed), habits: kept, seed: `policy ${seed}` }),
    };
  }
  if (name === NANO_POLICY) return { kind: 'embedded' };
  const own = config();
  const provider = name.split('/', 1)[0] ?? '';
  if (Object.hasOwn(own.providers, provider) || Object.hasOwn(own.models, name))
    return { kind: 'configured', name, config: own };
  throw new BenchError(
    `No policy named "${name}".`,
    'use scripted, nano, oracle or null, or a model of your config as provider/model',
  );
}

export interface ResearcherChoice {
  readonly policy: string;
  /** The user's configuration, for one of their models. */
  readonly config: () => Config;
  /** For the scripted one, where the user gave other values than the defaults. */
  readonly habits: Partial<Pick<Habits, 'obey' | 'unaided'>>;
}

interface Researcher {
  readonly policy: BenchPolicy;
  /** Its options, for the run's head. */
  readonly options: Readonly<Record<string, number>>;
}

/** Some conventions are common practice and followed without being taught. */
const UNAIDED = 0.25;

/** The researcher of this name: a built-in one, or a model from the user's configuration. */
export function chooseResearcher(
  { policy, habits, config }: ResearcherChoice,
  pipeline: (seed: number) => ResearchPipeline,
): Researcher {
  const own = (
    model: (of: ResearchPipeline) => ChatModel,
    options: Researcher['options'] = {},
  ): Researcher => ({
    policy: { kind: 'own', model: (seed) => model(pipeline(seed)) },
    options,
  });
  if (policy === 'oracle') return own(createOracleResearcher);
  if (policy === 'null') return own(createNullResearcher);
  if (policy === 'scripted') {
    const { obey = DEFAULT_HABITS.obey, unaided = UNAIDED } = habits;
    const chances = { obey, unaided };
    return own((of) => createScriptedResearcher({ seed: of.seed, pipeline: of, ...chances }), chances);
  }
  if (policy === NANO_POLICY) return { policy: { kind: 'embedded' }, options: {} };
  const settings = config();
  const provider = policy.split('/', 1)[0] ?? '';
  if (Object.hasOwn(settings.providers, provider) || Object.hasOwn(settings.models, policy))
    return { policy: { kind: 'configured', name: policy, config: settings }, options: {} };
  throw new BenchError(
    `The pipeline suite has no policy named "${policy}".`,
    'use scripted, nano, oracle or null, or a model of your config as provider/model',
  );
}
