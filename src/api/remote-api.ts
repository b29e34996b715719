import { callDaemon } from '../config/call-daemon.ts';
import type { DaemonRecord } from '../config/daemon-file.ts';
import type { DaemonApi, ErasureReport, KeysApi, LessonsApi, OwnerApis } from '../core/daemon-api.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import { followFeed } from './follow-feed.ts';
import { PAGE_ROUTES } from './router/page-routes.ts';
import type { BodyFor, QueryOf, RouteShape } from './router/route-shape.ts';
import { ROUTES } from './router/routes.ts';

/** Calls a running daemon over HTTP: the store has one writer, and that is the daemon. */
export function createRemoteApi(daemon: Pick<DaemonRecord, 'url'>, key: string | undefined): OwnerApis {
  const { one, list, find } = createRouteCalls(daemon, key);
  const api: DaemonApi = {
    sessions: (query) => list(ROUTES.sessions, { query }),
    session: (id, part) => find(ROUTES.session, { id, ...(part === undefined ? {} : { query: part }) }),
    turn: (id) => find(ROUTES.turn, { id }),
    newestTurn: async ({ agent, projects }) => {
      const { turn } = await one(ROUTES.newestTurn, { query: { agent, projects: projects?.join(',') } });
      return isObject(turn) ? turn : undefined;
    },
    trajectory: (id, { chat } = {}) =>
      find(ROUTES.trajectory, { id, ...(chat === true && { query: { chat } }) }),
    erase: async (id) => readErasure(await one(ROUTES.eraseSession, { id })),
    feedback: (body) => one(ROUTES.feedback, { body }),
    training: () => one(ROUTES.training),
    practice: ({ do: what, ...body }) => one(ROUTES.practice, { id: String(what), body }),
    startTraining: (request) => one(ROUTES.startTraining, { body: { ...request } }),
    moveWeights: (to) => list(to === 'promote' ? ROUTES.promoteWeights : ROUTES.rollbackWeights),
    schedule: () => one(ROUTES.schedule),
    consolidate: (request) => one(ROUTES.consolidate, { body: request }),
    adaptation: () => one(ROUTES.adaptation),
    overlays: (query) => list(ROUTES.overlays, { query }),
    episode: (id) => find(ROUTES.episode, { id }),
    backup: async (file) => void (await one(ROUTES.backup, { body: { file } })),
    confirmTime: () => one(ROUTES.confirmTime),
    learning: () => one(ROUTES.learning),
    switchLearning: (on) => one(ROUTES.switchLearning, { body: { on } }),
  };
  const lessonsApi: LessonsApi = {
    list: (query) => list(ROUTES.lessons, { query }),
    all: () => list(ROUTES.library),
    show: (id) => find(ROUTES.lesson, { id }),
    why: (turn) => find(ROUTES.why, { id: turn }),
    today: () => one(ROUTES.today),
    change: (body) => one(ROUTES.changeLessons, { body }),
    generations: () => list(ROUTES.generations),
    review: () => one(ROUTES.review),
    recall: (query) => one(ROUTES.recall, { body: query }),
    diff: (from, to) => find(ROUTES.diffGenerations, { id: String(from), query: { to } }),
    rollback: (to) => find(ROUTES.rollback, { id: String(to) }),
  };
  const keysApi: KeysApi = {
    list: () => list(ROUTES.keys),
    create: (request) => one(ROUTES.createKey, { body: request }),
    change: (id, request) => find(ROUTES.changeKey, { id, body: request }),
    revoke: async (id) => {
      try {
        return await list(ROUTES.revokeKey, { id });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return [];
        throw error;
      }
    },
    members: ({ do: what, ...body }) => one(ROUTES.members, { id: String(what), body }),
    settings: () => one(ROUTES.settings),
    setSetting: (request) => one(ROUTES.setSetting, { body: request }),
    reload: () => one(ROUTES.reload),
    confirm: (settings) => one(ROUTES.confirmSettings, { body: settings }),
    audit: (limit) => one(ROUTES.audit, { query: { limit } }),
  };
  const news = (signal: AbortSignal) => followFeed({ url: daemon.url, key }, signal);
  return { api, lessonsApi, keysApi, news };
}

/** Calls of routes that answer with an object, with a list, or with nothing when there is no such thing. */
function createRouteCalls(daemon: Pick<DaemonRecord, 'url'>, key: string | undefined) {
  const call = <S extends RouteShape>(route: S, given: Given<S> = {}): Promise<Json> => {
    const { id, query, body } = given;
    const path = id === undefined ? route.path : route.path.replace(':id', encodeURIComponent(id));
    const search = searchOf({ ...query }).toString();
    const sent = body ?? (route.method === 'POST' ? {} : undefined);
    return askApi(
      { url: daemon.url, key },
      route.method,
      search === '' ? path : `${path}?${search}`,
      sent as JsonObject,
    );
  };
  const one = async <S extends RouteShape>(route: S, given?: Given<S>): Promise<JsonObject> =>
    asObject(await call(route, given));
  const list = async <S extends RouteShape>(route: S, given?: Given<S>): Promise<readonly JsonObject[]> =>
    asArray(await call(route, given)).map(asObject);
  const find = async <S extends RouteShape>(route: S, given: Given<S>): Promise<JsonObject | undefined> => {
    try {
      return await one(route, given);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  };
  return { one, list, find };
}

/** What a call of a route is given. Values of a query are written as text. */
interface Given<S extends RouteShape> {
  readonly id?: string;
  readonly query?: { readonly [Name in keyof QueryOf<S>]?: string | number | boolean | undefined };
  readonly body?: BodyFor<S>;
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

/** An address that signs a browser in on the page, once. */
export async function askPageCode(
  { url: base }: DaemonRecord,
  key: string,
): Promise<{ readonly url: string; readonly expiresAt: string; readonly hasPage: boolean }> {
  const { method, path } = PAGE_ROUTES.pageCode;
  const { url, expiresAt, hasPage } = asObject(await askApi({ url: base, key }, method, path, {}));
  return { url: asString(url) ?? '', expiresAt: asString(expiresAt) ?? '', hasPage: hasPage === true };
}

/** Signs every browser out of the page. */
export async function askSignOut({ url }: DaemonRecord, key: string): Promise<void> {
  const { method, path } = PAGE_ROUTES.signOutAll;
  await askApi({ url, key }, method, path, {});
}

const TIMEOUT_MS = 120_000;

interface ApiAddress {
  readonly url: string;
  readonly key: string | undefined;
}

/** One request to a daemon's API. Rejects with `ApiError` for any status but 200. */
export async function askApi(
  { url, key }: ApiAddress,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<Json> {
  const reply = await callDaemon({ url }, path, {
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
