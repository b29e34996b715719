import type { Clock } from '../../core/clock.ts';
import { errorMessage } from '../../core/failure.ts';
import { asNumber, asString, type JsonObject } from '../../core/json.ts';
import type { GateOutcome } from '../../core/learn.ts';
import type { Job, JobEnd } from '../../core/schedule.ts';
import type { Records } from '../../core/store.ts';
import { plural } from '../../text/phrases.ts';
import type { CycleEnd } from '../cycle.ts';
import type { Learners } from '../learners.ts';
import type { LearningState } from '../learning-state.ts';
import type { LastReflection } from '../learning-status.ts';
import type { Practice } from '../practice/serve-practice.ts';
import type { LearningCommandOptions } from '../recollect/index-earlier.ts';
import type { Runner, WriteFacts } from '../runner.ts';

interface ReflectionOptions {
  readonly learners: Pick<Learners, 'manner'>;
  readonly runner: Runner;
  readonly state: LearningState;
  readonly records: Pick<Records, 'append' | 'events'>;
  /** Whether nothing may be learned now. */
  readonly isStopped: () => boolean;
  readonly clock: Clock;
}

export interface Reflection {
  last(): LastReflection | undefined;
  /** The commands of practice, and `reflect`. */
  withReflection(practice: Practice): Practice;
}

/** Rejects when the record cannot be read. */
export async function openReflection(options: ReflectionOptions): Promise<Reflection> {
  const { runner, state, records, isStopped, clock } = options;
  const { manner } = options.learners;
  const write: WriteFacts = async (facts) => void (facts.length > 0 && (await records.append(facts)));
  let last: LastReflection | undefined;
  for (const { at, fact } of await records.events(`job/${REFLECTION_JOB}`))
    if (fact.type === 'job-ended' && fact.end === 'done') last = { at, said: fact.note ?? '' };
  const reflect = async (signal: AbortSignal): Promise<JsonObject> => {
    if (isStopped()) return { said: 'learning is turned off' };
    const waiting = manner.waiting();
    const on = { state, write, isStopped: () => signal.aborted || isStopped() };
    const proposals = countOutcomes(await runner.run([manner.row], on), ['proposed', 'trial', 'live']);
    const agents = waiting - manner.waiting();
    const said =
      waiting > 0
        ? `${plural(agents, 'agent')} read, ${plural(proposals, 'change')} of an identity proposed`
        : 'nobody said anything new about an agent';
    last = { at: clock.now(), said };
    return { agents, proposals, said };
  };
  return {
    last: () => last,
    withReflection: (practice) => ({
      ...practice,
      command: (request, signal) =>
        request.do === 'reflect' ? reflect(signal) : practice.command(request, signal),
    }),
  };
}

const countOutcomes = (ends: readonly CycleEnd[], outcomes: readonly GateOutcome[]): number =>
  ends.flatMap(({ judgements }) => judgements).filter(({ outcome }) => outcomes.includes(outcome)).length;

const REST_MS = 20 * 3_600_000;
const MS = 5_000;

/** Once a day, in quiet hours: what people said about an agent's manner. */
export function createReflectionJob({ command }: LearningCommandOptions): Job {
  return {
    name: REFLECTION_JOB,
    priority: 2,
    needsWindow: true,
    estimate: () => MS,
    restMs: REST_MS,
    reads: ['turn-appraised', 'library-changed', 'session-scored'],
    isReady: async () => true,
    run: async ({ signal }): Promise<JobEnd> => {
      try {
        const { said, agents, proposals } = await command({ do: 'reflect' }, signal);
        if (signal.aborted) return { end: 'paused' };
        const yielded = asNumber(proposals) ?? 0;
        const isIdle = (asNumber(agents) ?? 0) + yielded === 0;
        return { end: 'done', note: asString(said) ?? '', ...(isIdle ? {} : { yielded }) };
      } catch (error) {
        if (signal.aborted) return { end: 'paused' };
        const why = errorMessage(error);
        return { end: 'failed', why, isRetryable: true };
      }
    },
  };
}

const REFLECTION_JOB = 'reflection';
