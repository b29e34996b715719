import { policyName } from '../../src/config/model-ref.ts';
import type { Config } from '../../src/config/schema.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import type { BenchPolicy } from './open-environment.ts';
import type { ResearchPipeline } from './pipeline/research-pipeline.ts';
import {
  createNullResearcher,
  createOracleResearcher,
  createScriptedResearcher,
} from './pipeline/scripted-researcher.ts';
import { createNullPolicy, createScriptedPolicy, type Habits, ORACLE } from './scripted-policy.ts';
import { BenchError, type LoadedSuite } from './suites.ts';

/** The defaults of the scripted policy. */
export const DEFAULT_HABITS: Habits = { obey: 0.9, unaided: 0.05, read: 0.6 };

/** The policy that ships with Instar. */
export const NANO_POLICY = 'nano';

/** Whether weights of this policy can be trained. */
export const isTrainable = ({ kind }: BenchPolicy): boolean => kind === 'embedded' || kind === 'engine';

const NAMES =
  'use scripted, nano, oracle or null, a model of your config as provider/model, or the model of train.engine as instar/NAME';

/** A model from the user's configuration: `provider/model`, an alias, or `instar/NAME` for the model in training. Throws a BenchError. */
function chooseConfigured(name: string, config: Config, unknown: string): BenchPolicy {
  const provider = name.split('/', 1)[0] ?? '';
  if (provider === 'instar') return chooseEngine(name, config);
  if (Object.hasOwn(config.providers, provider) || Object.hasOwn(config.models, name))
    return { kind: 'configured', name, config };
  throw new BenchError(unknown, NAMES);
}

function chooseEngine(name: string, config: Config): BenchPolicy {
  const { engine } = config.train;
  const own = policyName(config.train);
  if (name === `instar/${NANO_POLICY}` && own === NANO_POLICY) return { kind: 'embedded' };
  if (typeof engine === 'string' || name !== `instar/${own}`)
    throw new BenchError(
      `The policy "${name}" is not the model in training${own === undefined ? '' : `, which is instar/${own}`}.`,
      'set train.engine in the config to a server that speaks the Tinker protocol: { "tinker": URL, "baseModel": …, "tokenizer": FOLDER }',
    );
  if (engine.tokenizer === undefined)
    throw new BenchError(
      `${name} has no chat template.`,
      'set train.engine.tokenizer in the config to the folder of its tokenizer.json and tokenizer_config.json',
    );
  return { kind: 'engine', name, config };
}

/** The policy of this name: a built-in one, or a model from the user's configuration. Throws a BenchError. */
export function choosePolicy(
  name: string,
  suite: LoadedSuite,
  habits: Habits,
  config: () => Config,
): BenchPolicy {
  if (name === 'null') return { kind: 'own', model: async () => createNullPolicy() };
  if (name === 'scripted' || name === 'oracle') {
    const kept = name === 'oracle' ? ORACLE : habits;
    return {
      kind: 'own',
      model: async (seed) =>
        createScriptedPolicy({ suite: suite.of(seed), habits: kept, seed: `policy ${seed}` }),
    };
  }
  if (name === NANO_POLICY) return { kind: 'embedded' };
  return chooseConfigured(name, config(), `No policy named "${name}".`);
}

export interface ResearcherChoice {
  readonly policy: string;
  /** The user's configuration, for one of their models. */
  readonly config: () => Config;
  /** For the scripted one, where the user gave other values than the defaults. */
  readonly habits: Partial<Pick<Habits, 'obey' | 'unaided'>>;
}

export interface Researcher {
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
    policy: { kind: 'own', model: async (seed) => model(pipeline(seed)) },
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
  const unknown = `The pipeline suite has no policy named "${policy}".`;
  return { policy: chooseConfigured(policy, config(), unknown), options: {} };
}
