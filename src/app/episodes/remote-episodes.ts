import { randomUUID } from 'node:crypto';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../core/json.ts';
import type { EpisodeDesk, ListedLesson, Recollection, Tally, Told } from '../../mcp/episode-desk.ts';
import { DeskError } from '../desk-error.ts';

/** One request to the daemon; rejects with `DeskError` for what it refuses. */
export type AskDaemon = (method: string, path: string, body?: JsonObject) => Promise<unknown>;

const NOT_THERE = 'start it with: instar up';

/** The desk of episodes at a running daemon. `ask` is looked up anew each time: a daemon may come and go. */
export function createRemoteEpisodes(ask: AskDaemon): EpisodeDesk {
  const told = async <T>(work: () => Promise<T>): Promise<Told<T>> => {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const mend = error instanceof DeskError ? 'look at what you sent, and try again' : NOT_THERE;
      return { ok: false, why, mend };
    }
  };
  const report = (kind: string, session: string, data: JsonObject) =>
    ask('POST', '/v1/events', { kind, session, ...data });
  const recall = async (query: JsonObject): Promise<Recollection> => {
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
  ): Promise<Tally & { readonly learns: boolean; readonly state: string }> => {
    const found = asObject(await ask('GET', `/api/episodes/${encodeURIComponent(episode)}`));
    return {
      state: asString(found.state) ?? '',
      attempts: asNumber(found.attempts) ?? 0,
      failed: asNumber(found.failed) ?? 0,
      learns: found.learns === true,
    };
  };
  const open = async (episode: string): Promise<void> => {
    if ((await look(episode)).state !== 'open') throw new DeskError(409, `episode ${episode} is over`);
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
          throw new DeskError(409, `episode ${episode} ended before, with ${state}`);
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
        return asArray(await ask('GET', `/api/lessons?${query}`)) as unknown as readonly ListedLesson[];
      }),
    feedback: ({ subject, score, note }) =>
      told(async () => {
        const about = 'episode' in subject ? { session: subject.episode } : subject;
        await ask('POST', '/v1/feedback', { ...about, score, source: 'agent', ...(note ? { note } : {}) });
        return null;
      }),
  };
}
