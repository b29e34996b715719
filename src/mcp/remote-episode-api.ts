import { errorMessage } from '../core/failure.ts';
import { compact, isObject, type JsonObject } from '../core/json.ts';
import type { EpisodeApi, EpisodeResult } from './episode-api.ts';
import { createEpisodes, type EpisodeRecords } from './episodes.ts';

/** One request to the daemon; rejects with an error that has the HTTP status when the daemon refuses it. */
type AskDaemon = (method: string, path: string, body?: JsonObject) => Promise<unknown>;

const START_DAEMON = 'start it with: instar up';

const hasStatus = (error: unknown): boolean => isObject(error) && typeof error.status === 'number';

/** The records of a running daemon, over HTTP. */
export const createRemoteEpisodeRecords = (ask: AskDaemon): EpisodeRecords => ({
  report: (event) => ask('POST', '/v1/events', event),
  recall: (query) => ask('POST', '/api/recall', query),
  episode: (id) => ask('GET', `/api/episodes/${encodeURIComponent(id)}`),
  lessons: ({ state, kind }) =>
    ask(
      'GET',
      `/api/lessons?${new URLSearchParams({ ...(state ? { state } : {}), ...(kind ? { kind } : {}) })}`,
    ),
  feedback: (body) => ask('POST', '/v1/feedback', body),
  overlays: (query) => ask('GET', `/api/overlays?${new URLSearchParams(compact(query))}`),
  isServed: true,
});

/** The episode API of a running daemon, over HTTP. `ask` finds the daemon for each request: it may restart. */
export function createRemoteEpisodeApi(ask: AskDaemon): EpisodeApi {
  const records = createRemoteEpisodeRecords(ask);
  const episodes = createEpisodes(records);
  const told = async <T>(work: Promise<T>): Promise<EpisodeResult<T>> => {
    try {
      return { ok: true, value: await work };
    } catch (error) {
      const why = errorMessage(error);
      const fix = hasStatus(error) ? 'check the arguments, and try again' : START_DAEMON;
      return { ok: false, why, fix };
    }
  };
  return {
    start: (query) => told(episodes.start(query)),
    attempt: (attempt) => told(episodes.attempt(attempt)),
    report: (event) => told(records.report(event).then(() => null)),
    end: (end) => told(episodes.end(end)),
    recall: (query) => told(episodes.recall(query)),
    list: (query) => told(episodes.list(query)),
    flows: (caller) => told(episodes.flows(caller)),
    feedback: (given) => told(episodes.feedback(given).then(() => null)),
  };
}
