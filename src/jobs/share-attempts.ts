import { sleep } from '../base/sleep.ts';
import type { JobQueue } from '../core/jobs.ts';
import { asObject, isObject, toJson } from '../core/json.ts';
import type { Attempt, AttemptOrder, MakeAttempt } from '../core/practice.ts';
import type { DoJob } from './work-jobs.ts';

interface SharedAttemptsOptions {
  readonly queue: Pick<JobQueue, 'enqueue' | 'state' | 'forget'>;
  /** The name of the model that attempts: only processes that have the same one take the job. */
  readonly model: string;
  /** Makes an attempt here. */
  readonly make: MakeAttempt;
  /** Whether any other process could make it. */
  readonly mayShare: (order: AttemptOrder) => boolean;
  readonly waitMs?: number;
}

const WAIT_MS = 300;

/** Processes take the attempts of the model that they are configured with. */
export const attemptKind = (model: string): string => `attempt ${model}`;

/**
 * Makes attempts through the queue: whichever process has time makes them, this one included. An attempt that is over is found by its id,
 * also by the successor of a session's process, so that it is made once. What nobody could make is made here.
 */
export function shareAttempts(options: SharedAttemptsOptions): MakeAttempt {
  const { queue, make, mayShare, waitMs = WAIT_MS } = options;
  const kind = attemptKind(options.model);
  return async (order, signal) => {
    if (!mayShare(order) || signal.aborted) return make(order, signal);
    const session = order.task.from?.session;
    const sessions = session === undefined ? {} : { sessions: [session] };
    const job = { kind, key: order.id, data: { order: toJson(order) }, ...sessions };
    try {
      const id = await queue.enqueue(job);
      for (;;) {
        if (signal.aborted) {
          // One that is under way goes on, and is found when the session continues.
          await queue.forget(kind, id);
          return await make(order, signal);
        }
        const state = await queue.state(kind, id);
        if (state.is === 'open') {
          await sleep(waitMs, signal);
          continue;
        }
        const attempt = state.is === 'done' ? state.output.attempt : undefined;
        if (!isAttempt(attempt)) return await make(order, signal);
        // A failure of our own is not the attempt's last word: the next try is a new job.
        if (attempt.outcome.is === 'infrastructure') await queue.forget(kind, id);
        return attempt;
      }
    } catch (error) {
      const why = `the queue of jobs cannot be used: ${error instanceof Error ? error.message : String(error)}`;
      return unmade(order, why);
    }
  };
}

/** Makes an attempt that another process asked for. */
export const doAttempt =
  (make: MakeAttempt, whyNot: (order: AttemptOrder) => Promise<string | undefined>): DoJob =>
  async ({ data }, signal) => {
    const order = data.order as object as AttemptOrder;
    const why = await whyNot(order);
    // Another process may be able to.
    if (why !== undefined) throw new Error(why);
    const attempt = await make(order, signal);
    signal.throwIfAborted();
    return { attempt: toJson(attempt) };
  };

const isAttempt = (value: unknown): value is Attempt & typeof value =>
  isObject(value) && isObject(value.outcome) && typeof asObject(value.outcome).is === 'string';

const unmade = ({ id, task, shown }: AttemptOrder, why: string): Attempt => ({
  id,
  task: task.id,
  by: '',
  generation: shown.generation,
  lessons: shown.lessons,
  outcome: { is: 'infrastructure', why },
  output: '',
  steps: [],
  used: { calls: 0, tokens: 0, usd: 0, unpriced: 0, ms: 0 },
});
