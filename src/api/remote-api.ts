import { callDaemon } from '../config/call-daemon.ts';
import type { DaemonRecord } from '../config/daemon-file.ts';
import type { DaemonApi, ErasureReport, KeysApi, LessonsApi, OwnerApis } from '../core/daemon-api.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';

/** Calls a running daemon over HTTP: the store has one writer, and that is the daemon. */
export function createRemoteApi(daemon: DaemonRecord, key: string | undefined): OwnerApis {
  const ask = (method: string, path: string, body?: JsonObject): Promise<Json> =>
    askApi(daemon, key, method, path, body);
  const find = async (path: string, method = 'GET'): Promise<JsonObject | undefined> => {
    try {
      return asObject(await ask(method, path, method === 'POST' ? {} : undefined));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  };
  const place = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;
  const api: DaemonApi = {
    sessions: async (query) =>
      asArray(await ask('GET', `/api/sessions?${searchOf({ ...query })}`)).map(asObject),
    session: (id, part) => find(`${place(id)}?${searchOf({ ...part })}`),
    turn: (id) => find(`/api/turns/${encodeURIComponent(id)}`),
    newestTurn: async ({ agent, projects }) => {
      const { turn } = asObject(
        await ask('GET', `/api/turns?${searchOf({ agent, projects: projects?.join(',') })}`),
      );
      return isObject(turn) ? turn : undefined;
    },
    trajectory: (id) => find(`${place(id)}/trajectory`),
    erase: async (id) => readErasure(asObject(await ask('DELETE', place(id)))),
    feedback: async (body) => asObject(await ask('POST', '/v1/feedback', body)),
    training: async () => asObject(await ask('GET', '/api/train')),
    practice: async ({ do: what, ...body }) =>
      asObject(await ask('POST', `/api/practice/${encodeURIComponent(String(what))}`, body)),
    startTraining: async (request) => asObject(await ask('POST', '/api/train/run', { ...request })),
    moveWeights: async (to) => asArray(await ask('POST', `/api/train/${to}`, {})).map(asObject),
    schedule: async () => asObject(await ask('GET', '/api/schedule')),
    consolidate: async (request) => asObject(await ask('POST', '/api/consolidate', request)),
    adaptation: async () => asObject(await ask('GET', '/api/adapt')),
    overlays: async (query) => {
      const asked = new URLSearchParams(compact(query)).toString();
      return asArray(await ask('GET', `/api/overlays${asked === '' ? '' : `?${asked}`}`)).map(asObject);
    },
    suggestWindows: async () => asObject(await ask('GET', '/api/schedule/suggest')),
    episode: (id) => find(`/api/episodes/${encodeURIComponent(id)}`),
    backup: async (file) => void (await ask('POST', '/api/backup', { file })),
    confirmTime: async () => asObject(await ask('POST', '/api/time/confirm', {})),
    learning: async () => asObject(await ask('GET', '/api/learning')),
    switchLearning: async (on) => asObject(await ask('POST', '/api/learning', { on })),
  };
  const named = (id: string | number): string => encodeURIComponent(id);
  const lessonsApi: LessonsApi = {
    list: async (query) =>
      asArray(await ask('GET', `/api/lessons?${new URLSearchParams({ ...query })}`)).map(asObject),
    all: async () => asArray(await ask('GET', '/api/library')).map(asObject),
    show: (id) => find(`/api/lessons/${named(id)}`),
    why: (turn) => find(`/api/turns/${named(turn)}/why`),
    today: async () => asObject(await ask('GET', '/api/today')),
    change: async (body) => asObject(await ask('POST', '/api/lessons', body)),
    generations: async () => asArray(await ask('GET', '/api/generations')).map(asObject),
    review: async () => asObject(await ask('GET', '/api/review')),
    recall: async (query) => asObject(await ask('POST', '/api/recall', query)),
    diff: (from, to) => find(`/api/generations/${named(from)}/diff?to=${named(to)}`),
    rollback: (to) => find(`/api/generations/${named(to)}/rollback`, 'POST'),
  };
  const keysApi: KeysApi = {
    list: async () => asArray(await ask('GET', '/api/keys')).map(asObject),
    create: async (request) => asObject(await ask('POST', '/api/keys', request)),
    revoke: async (id) => {
      try {
        return asArray(await ask('DELETE', `/api/keys/${named(id)}`)).map(asObject);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return [];
        throw error;
      }
    },
    settings: async () => asObject(await ask('GET', '/api/config')),
    setSetting: async (request) => asObject(await ask('POST', '/api/config', request)),
    reload: async () => asObject(await ask('POST', '/api/reload', {})),
    confirm: async (settings) => asObject(await ask('POST', '/api/settings', settings)),
    audit: async (limit) => asObject(await ask('GET', `/api/audit?limit=${limit}`)),
  };
  return { api, lessonsApi, keysApi };
}

function searchOf(members: Readonly<Record<string, unknown>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value !== undefined) search.set(name, String(value));
  return search;
}

function readErasure({ erased, lessons, copies }: JsonObject): ErasureReport {
  const { retired, cleaned } = asObject(lessons);
  const named = (list: Json | undefined) =>
    asArray(list)
      .map(asObject)
      .map(({ id, name }) => ({ id: asString(id) ?? '', name: asString(name) ?? '' }));
  return {
    erased: asNumber(erased) ?? 0,
    lessons: { retired: named(retired), cleaned: named(cleaned) },
    copies: asNumber(copies) ?? 0,
  };
}

const TIMEOUT_MS = 120_000;

/** One request to a daemon's API. Rejects with `ApiError` for any status but 200. */
export async function askApi(
  daemon: DaemonRecord,
  key: string | undefined,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<Json> {
  const reply = await callDaemon(daemon, path, {
    method,
    timeoutMs: TIMEOUT_MS,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const value = parseJson(reply.text) ?? null;
  if (reply.status === 200) return value;
  const message = asString(asObject(asObject(value).error).message) ?? `the daemon answered ${reply.status}`;
  throw new ApiError(reply.status, message);
}

/** The daemon refused a request; carries its message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
