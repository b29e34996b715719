import { setMaxListeners } from 'node:events';
import type { SampledTurn } from '../../core/policy.ts';
import type { AttemptResult, TaskAttempt, TrainingTask } from '../../core/task-source.ts';
import { type PolicyOfAttempts, speakAsPolicy } from './speak-as-policy.ts';

/** An attempt that was graded, with what the policy sampled in it. */
export interface Attempt extends Omit<Extract<AttemptResult, { readonly ok: true }>, 'ok'> {
  readonly turns: readonly SampledTurn[];
}

export interface AttemptOptions extends PolicyOfAttempts {
  readonly task: TrainingTask;
  readonly count: number;
  readonly signal: AbortSignal;
  /** Called with the reason when the model or the verifier failed. */
  readonly onFailure?: (why: string) => void;
}

/**
 * Several attempts at one task in parallel. Undefined stands for an attempt that failed or was not graded, through no
 * fault of the policy. Rejects when the signal aborts.
 */
export async function attemptTask(options: AttemptOptions): Promise<readonly (Attempt | undefined)[]> {
  const { task, count } = options;
  // Every attempt listens to it.
  const signal = AbortSignal.any([options.signal]);
  setMaxListeners(0, signal);
  const places = Array.from({ length: count }, (_, at) => at);
  // All are open before the first runs: their first requests then go out in one tick, with one prompt to read.
  const opened = await Promise.all(places.map(() => task.open()));
  try {
    const attempts = await Promise.all(
      opened.map((attempt, at) => attemptOnce({ ...options, signal }, attempt, at)),
    );
    signal.throwIfAborted();
    return attempts;
  } finally {
    await Promise.all(opened.map((attempt) => attempt.close()));
  }
}

async function attemptOnce(
  options: AttemptOptions,
  attempt: TaskAttempt,
  place: number,
): Promise<Attempt | undefined> {
  const { speak, session, turns } = speakAsPolicy(options, place);
  const result = await attempt.run({ speak, session }, options.signal);
  if (result.ok) {
    const { ok: _, ...grade } = result;
    return { ...grade, turns };
  }
  if (result.isUngraded !== true && !options.signal.aborted) options.onFailure?.(result.why);
  return undefined;
}
