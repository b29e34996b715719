import type { Clock } from '../../core/clock.ts';
import { asNumber, type JsonObject } from '../../core/json.ts';
import type { Job, JobEnd } from '../../core/schedule.ts';
import type { Records } from '../../core/store.ts';
import { plural } from '../../text/phrases.ts';
import type { Practice } from '../practice/serve-practice.ts';
import type { IndexMessages } from './index-messages.ts';

const INDEX_EARLIER = 'index-earlier';
/** Sessions of one step: after each it can be stopped. */
const STEP = 20;

interface EarlierOptions {
  readonly records: Pick<Records, 'sessions' | 'factsOf'>;
  readonly indexMessages: IndexMessages;
  readonly clock: Pick<Clock, 'now'>;
}

/** Practice that also indexes sessions which ended before there was an index: `index-earlier`, one step for each request. */
export const withEarlierSessions = (practice: Practice, options: EarlierOptions): Practice => ({
  ...practice,
  command: async (request, signal) =>
    request.do === INDEX_EARLIER ? indexEarlier(request, options, signal) : practice.command(request, signal),
});

/**
 * From the newest to the oldest, those whose last turn is older than `before`. Done again, a step changes nothing. Answers with where the
 * next one begins; without that there are no older ones.
 */
async function indexEarlier(
  request: JsonObject,
  { records, indexMessages, clock }: EarlierOptions,
  signal: AbortSignal,
): Promise<JsonObject> {
  // What ended after the first entry was indexed when it ended.
  const [first] = await records.factsOf('message-indexed', 0, 1);
  const before = asNumber(request.before) ?? first?.at ?? clock.now();
  const sessions = await records.sessions({ before, limit: STEP, withoutPractice: true });
  let [count, next] = [0, before];
  for (const { id, endedAt, lastAt } of sessions) {
    if (signal.aborted) break;
    if (endedAt !== undefined) await indexMessages(id, clock.now());
    count++;
    next = lastAt;
  }
  return count === sessions.length && count < STEP ? { count } : { count, next };
}

export interface LearningCommandOptions {
  /** Does a step in the learning thread. */
  readonly command: (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
}

const RUN_MS = 60_000;

/** Indexes, once in the life of a home, what was said in sessions that ended before there was an index. Its checkpoint is where it stands. */
export const createEarlierJob = ({ command }: LearningCommandOptions): Job => ({
  name: 'earlier-sessions',
  priority: 2,
  needsWindow: true,
  estimate: () => RUN_MS,
  // Once it was done there is nothing older to index.
  restMs: Number.POSITIVE_INFINITY,
  isReady: async () => true,
  run: async ({ signal, from, checkpoint }): Promise<JobEnd> => {
    let before = from === undefined || from === '' ? undefined : Number(from);
    let sessions = 0;
    try {
      await checkpoint(from ?? '');
      while (!signal.aborted) {
        const request = { do: INDEX_EARLIER, ...(before === undefined ? {} : { before }) };
        const done = await command(request, signal);
        sessions += asNumber(done.count) ?? 0;
        before = asNumber(done.next);
        if (before === undefined)
          return { end: 'done', note: `${plural(sessions, 'earlier session')} can be searched` };
        await checkpoint(String(before));
      }
      return { end: 'paused' };
    } catch (error) {
      if (signal.aborted) return { end: 'paused' };
      return {
        end: 'failed',
        why: error instanceof Error ? error.message : String(error),
        isRetryable: true,
      };
    }
  },
});
