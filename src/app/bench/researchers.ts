import type { ResearchPipeline } from '../../bench/pipeline/research-pipeline.ts';
import {
  createNullResearcher,
  createOracleResearcher,
  createScriptedResearcher,
} from '../../bench/pipeline/scripted-researcher.ts';
import type { Habits } from '../../bench/policies/scripted-policy.ts';
import type { ChatModel } from '../../core/chat.ts';
import { BenchError } from './bench-error.ts';
import type { Policy } from './open-bed.ts';
import { USUAL_HABITS } from './policies.ts';
import type { BenchRun } from './run-bench.ts';

export interface ResearcherChoice extends Pick<BenchRun, 'policy' | 'config'> {
  /** For the scripted one, where the user gave other values than the defaults. */
  readonly habits: Partial<Pick<Habits, 'obey' | 'unaided'>>;
}

export interface Researcher {
  readonly policy: Policy;
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
    const { obey = USUAL_HABITS.obey, unaided = UNAIDED } = habits;
    const chances = { obey, unaided };
    return own((of) => createScriptedResearcher({ seed: of.seed, pipeline: of, ...chances }), chances);
  }
  const settings = config();
  const provider = policy.split('/', 1)[0] ?? '';
  if (Object.hasOwn(settings.providers, provider) || Object.hasOwn(settings.models, policy))
    return { policy: { kind: 'configured', name: policy, config: settings }, options: {} };
  throw new BenchError(
    `The pipeline suite has no policy named "${policy}".`,
    'use scripted, oracle or null, or a model of your config as provider/model',
  );
}
