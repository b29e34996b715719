import { randomUUID } from 'node:crypto';
import { asArray, asNumber, asObject, asString, isObject, type JsonObject } from '../core/json.ts';
import { LESSON_KINDS, LESSON_STATES } from '../core/lesson.ts';
import type {
  AttemptCounts,
  EpisodeApi,
  EpisodeResult,
  ListedLesson,
  RecalledLessons,
} from './episode-api.ts';

/** One request to the daemon; rejects with an error that has the HTTP status when the daemon refuses it. */
export type AskDaemon = (method: string, path: string, body?: JsonObject) => Promise<unknown>;

const START_DAEMON = 'start it with: instar up';

class EpisodeStateError extends Error {
  override readonly name = 'EpisodeStateError';
  readonly status = 409;
}

const hasStatus = (error: unknown): boolean => isObject(error) && typeof error.status === 'number';

/** The episode API of a running daemon, over HTTP. `ask` finds the daemon for each request: it may restart. */
export function createRemoteEpisodeApi(ask: AskDaemon): EpisodeApi {
  const told = async <T>(work: () => Promise<T>): Promise<EpisodeResult<T>> => {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const fix = hasStatus(error) ? 'check the arguments, and try again' : START_DAEMON;
      return { ok: false, why, fix };
    }
  };
  const report = (kind: string, session: string, data: JsonObject) =>
    ask('POST', '/v1/events', { kind, session, ...data });
  const recall = async (query: JsonObject): Promise<RecalledLessons> => {
    const found = asObject(await ask('POST', '/api/recall', query));
    return {
      text: asString(found.text) ?? '',
      lessons: asArray(found.lessons).map((lesson) => ({
        id: asString(asObject(lesson).id) ?? '',
        name: asString(asObject(lesson).name) ?? '',
      })),
    };
  };
  const look = async (
    episode: string,
  ): Promise<AttemptCounts & { readonly learns: boolean; readonly state: string }> => {
    const found = asObject(await ask('GET', `/api/episodes/${encodeURIComponent(episode)}`));
    return {
      state: asString(found.state) ?? '',
      attempts: asNumber(found.attempts) ?? 0,
      failed: asNumber(found.failed) ?? 0,
      learns: found.learns === true,
    };
  };
  const open = async (episode: string): Promise<void> => {
    if ((await look(episode)).state !== 'open') throw new EpisodeStateError(`episode ${episode} has ended`);
  };

  return {
    start: ({ task, agent, project, domain, client }) =>
      told(async () => {
        const episode = `ep_${randomUUID()}`;
        const who = { ...(project ? { project } : {}), ...(domain ? { domain } : {}) };
        const name = agent ?? client ?? 'unknown';
        await report('episode_start', episode, { agent: name, task, ...who });
        return { episode, recalled: await recall({ task, agent: name, ...who }) };
      }),
    attempt: ({ episode, action, result, ok }) =>
      told(async () => {
        await open(episode);
        await report('episode_attempt', episode, { action, result, ok });
        return look(episode);
      }),
    end: ({ episode, outcome, note }) =>
      told(async () => {
        const { state } = await look(episode);
        if (state !== 'open' && state !== outcome)
          throw new EpisodeStateError(`episode ${episode} has already ended with ${state}`);
        if (state === 'open') await report('episode_end', episode, { outcome, ...(note ? { note } : {}) });
        return look(episode);
      }),
    recall: ({ task, agent, client, project, domain, limit }) =>
      told(() =>
        recall({
          task,
          agent: agent ?? client ?? 'unknown',
          ...(project ? { project } : {}),
          ...(domain ? { domain } : {}),
          ...(limit ? { limit } : {}),
        }),
      ),
    list: ({ state, kind }) =>
      told(async () => {
        const query = new URLSearchParams({ ...(state ? { state } : {}), ...(kind ? { kind } : {}) });
        return asArray(await ask('GET', `/api/lessons?${query}`)).flatMap(readListedLesson);
      }),
    feedback: ({ subject, score, note }) =>
      told(async () => {
        const about = 'episode' in subject ? { session: subject.episode } : subject;
        await ask('POST', '/v1/feedback', { ...about, score, source: 'agent', ...(note ? { note } : {}) });
        return null;
      }),
  };
}

/** Lessons of a kind or state that this version does not know are left out. */
function readListedLesson(value: unknown): readonly ListedLesson[] {
  const lesson = asObject(value);
  const kind = LESSON_KINDS.find((one) => one === lesson.kind);
  const state = LESSON_STATES.find((one) => one === lesson.state);
  if (kind === undefined || state === undefined) return [];
  return [
    {
      id: asString(lesson.id) ?? '',
      kind,
      name: asString(lesson.name) ?? '',
      description: asString(lesson.description) ?? '',
      state,
      revision: asNumber(lesson.revision) ?? 0,
    },
  ];
}
