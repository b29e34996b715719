import type { Log } from '../../base/log.ts';
import { errorMessage } from '../../core/failure.ts';
import { asNumber, asObject, asString, compact, type JsonObject } from '../../core/json.ts';
import type { Job, JobEnd } from '../../core/schedule.ts';

type PracticeCommand = (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;

interface PracticeJobOptions {
  readonly command: PracticeCommand;
  /** Whether sessions begin by themselves. */
  readonly when: () => 'off' | 'free' | 'on';
}

const MS = 10 * 60_000;

/**
 * Practice in quiet hours: the session that is due, or the one that was interrupted. Every unit of its work is in its own journal, so
 * that it may stop anywhere.
 */
export function createPracticeJob({ command, when }: PracticeJobOptions): Job {
  return {
    name: 'practice',
    priority: 3,
    needsWindow: true,
    estimate: () => MS,
    isReady: async () => {
      if (when() === 'off') return false;
      try {
        const { due, isFree } = await command({ do: 'due' });
        return due !== undefined && (when() === 'on' || isFree === true);
      } catch {
        // The learning thread is starting.
        return false;
      }
    },
    run: async ({ signal, checkpoint }): Promise<JobEnd> => {
      await checkpoint('a session begins or goes on');
      const { end, note, counts, weights } = await command({ do: 'work' }, signal).catch(
        (error: unknown): JsonObject => ({
          end: signal.aborted ? 'aborted' : 'stuck',
          note: errorMessage(error),
        }),
      );
      const why = asString(note);
      if (end === 'stuck')
        return { end: 'failed', why: why ?? 'practice could not go on', isRetryable: true };
      if (end === 'aborted' || end === 'deferred')
        return { end: 'paused', ...(why === undefined ? {} : { note: why }) };
      const lessons = asNumber(asObject(counts).published);
      const yielded = lessons === undefined ? undefined : lessons + (asNumber(asObject(weights).steps) ?? 0);
      return { end: 'done', ...compact({ note: why, yielded }) };
    },
  };
}

/** Practice for people: a request that cannot be carried out is an error with the fix. */
export const createPracticeApi =
  (command: PracticeCommand, log: Log): ((request: JsonObject) => Promise<JsonObject>) =>
  async (request) => {
    // Only the job works through a session.
    if (/^(?:work|consolidate.*)$/.test(String(request.do)))
      throw badRequest(`do must not be ${String(request.do)}.`);
    const answer = await command(request);
    const refused = asString(asObject(answer).refused);
    if (refused !== undefined) throw badRequest(refused);
    if (request.do === 'run' && answer.started === true)
      log.info({ practice: true }, 'a practice session begins');
    return answer;
  };

const badRequest = (message: string): Error => Object.assign(new Error(message), { status: 400 });
