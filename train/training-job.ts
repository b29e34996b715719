import type { Clock } from '../src/core/clock.ts';
import type { Fact } from '../src/core/fact.ts';
import { compact, parseJson } from '../src/core/json.ts';
import { NO_COST } from '../src/core/learn.ts';
import type { Job, JobContext, JobEnd } from '../src/core/schedule.ts';
import { TrainingError } from '../src/core/training.ts';
import type { CheckpointMoved, PromotionStage } from './promotion-stages.ts';
import { readCheckpoint } from './run-files.ts';
import type { RunCheckpoint } from './run-journal.ts';
import type { TrainingEvent } from './training-window.ts';
import type { WindowSize } from './window-size.ts';

type CycleEnd = Fact & { readonly type: 'cycle-end' };

/** A training window as a learner's cycle: it ends with a `cycle-end` fact like those of other learners. */
export interface TrainingCycle {
  hear(event: TrainingEvent): void;
  fail(why: string): void;
  /** `generation`: the one in force. */
  end(generation: number, isAborted: boolean): CycleEnd;
}

const LEARNER = 'trainer';

/** A canary counts as on trial, like a lesson that some sessions see. Other moves are no outcome. */
const OUTCOMES: Readonly<Partial<Record<PromotionStage, 'trial' | 'live' | 'refused'>>> = {
  canary: 'trial',
  live: 'live',
  rejected: 'refused',
};

export function beginTrainingCycle(engine: string, clock: Clock): TrainingCycle {
  const startedAt = clock.monotonic();
  const id = `${LEARNER}/${engine}/${Math.round(clock.now())}`;
  const moves: CheckpointMoved[] = [];
  let problem: string | undefined;
  let untrained: string | undefined;
  return {
    hear: (event) => {
      if (event.type === 'moved') moves.push(event.moved);
      if (event.type === 'stuck') problem = event.why;
      if (event.type === 'not-trained') untrained = event.why;
    },
    fail: (why) => {
      problem = why;
    },
    end: (generation, isAborted) => {
      const judgements = moves.flatMap(({ version, to, why }) => {
        const outcome = OUTCOMES[to];
        const lesson = `${engine}@${version}`;
        return outcome === undefined ? [] : [{ lesson, name: `version ${version}`, outcome, why: [why] }];
      });
      return {
        type: 'cycle-end',
        cycle: id,
        learner: LEARNER,
        outcome: outcomeOf(judgements.at(-1)?.outcome, problem, isAborted),
        // The trainer has no queue of failures.
        items: [],
        turns: [],
        judgements,
        generation,
        cost: NO_COST,
        tookMs: Math.round(clock.monotonic() - startedAt),
        ...compact({ note: problem ?? untrained }),
      };
    },
  };
}

function outcomeOf(
  last: 'trial' | 'live' | 'refused' | undefined,
  problem: string | undefined,
  isAborted: boolean,
): CycleEnd['outcome'] {
  if (last !== undefined) return last === 'refused' ? 'refused' : 'published';
  if (isAborted) return 'aborted';
  return problem === undefined ? 'nothing' : 'stuck';
}

const TRAIN_JOB = 'training';
const DAY_MS = 24 * 3_600_000;
const STEP_MS = 3_000;

/** What the schedule knows about earlier runs of a job. */
export interface TrainJobHistory {
  /** The last run, when it is not over. */
  readonly run: string | undefined;
  readonly lastDone: { readonly at: number; readonly note?: string } | undefined;
}

interface TrainJobOptions {
  readonly run: (
    request: { readonly reserve: JobContext['reserve']; readonly resume?: RunCheckpoint },
    signal: AbortSignal,
  ) => AsyncIterable<TrainingEvent>;
  /** Whether there can be tasks at all. */
  readonly hasTasks: boolean;
  /** Whether anybody asks the policy. */
  readonly isUsed: () => boolean;
  readonly generation: () => number;
  readonly history: (job: string) => Promise<TrainJobHistory>;
  readonly clock: Clock;
  readonly settings: Pick<WindowSize, 'steps'>;
}

/** The nightly training job. Not ready while the policy is unused, or was trained today with the same lessons. */
export function createTrainJob(options: TrainJobOptions): Job {
  const { run, isUsed, generation, history, clock, settings } = options;
  return {
    name: TRAIN_JOB,
    priority: 2,
    needsWindow: true,
    estimate: () => settings.steps * STEP_MS,
    isReady: async () => {
      if (!options.hasTasks || !isUsed() || generation() === 0) return false;
      const { run: open, lastDone } = await history(TRAIN_JOB);
      if (open !== undefined || lastDone === undefined) return true;
      const isNew = lastDone.note?.startsWith(noteOf(generation())) !== true;
      return isNew || Math.abs(clock.now() - lastDone.at) >= DAY_MS;
    },
    run: async ({ from, signal, checkpoint, reserve }): Promise<JobEnd> => {
      const moves: string[] = [];
      let yielded = 0;
      const resume = readCheckpoint(parseJson(from ?? ''));
      try {
        for await (const event of run({ reserve, ...(resume === undefined ? {} : { resume }) }, signal)) {
          // Another process goes on from these weights, where its engine is the same.
          if (event.type === 'step-trained' || event.type === 'pair-weighed') yielded++;
          if (event.type === 'step-trained')
            await checkpoint(JSON.stringify({ batch: event.batch, ...event.checkpoint }));
          if (event.type === 'paused') return { end: 'paused' };
          if (event.type === 'stuck')
            return { end: 'failed', why: event.why, isRetryable: event.isRetryable };
          if (event.type === 'moved') moves.push(`version ${event.moved.version} is ${event.moved.to}`);
          if (event.type === 'not-trained') moves.push(event.why);
        }
      } catch (error) {
        if (!(error instanceof TrainingError)) throw error;
        if (error.code === 'no-tasks')
          return { end: 'done', note: `${noteOf(generation())}nothing to train on` };
        return { end: 'failed', why: error.message, isRetryable: error.category !== 'user' };
      }
      if (signal.aborted) return { end: 'paused' };
      return { end: 'done', note: `${noteOf(generation())}${moves.join(', ') || 'nothing moved'}`, yielded };
    },
  };
}

const noteOf = (generation: number): string => `generation ${generation}: `;
