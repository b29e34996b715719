import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import type { Caller } from '../core/caller.ts';
import type { ErasureReport, NewestTurnQuery, OwnerApis, SessionPart } from '../core/daemon-api.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import {
  asNumber,
  asObject,
  asString,
  compact,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import { StoreError } from '../core/store.ts';
import { TrainingError } from '../core/training.ts';
import type { AdmissionSlot } from './admission.ts';
import type { GatewayContext } from './context.ts';
import { type ControlAction, giveFeedback, reportEvent, runControlAction } from './control-api.ts';
import { type ReportPace, reportPaceOf } from './event-pace.ts';
import { receiveBody } from './read-body.ts';

/** Anything that JSON.stringify writes without loss. */
type Serializable = Json | readonly object[];

/** A JSON reply, or plain text with its content type. */
export type ApiReply = { readonly json: Serializable } | { readonly text: string; readonly type: string };

export interface ApiRoute {
  /** Who may call it: anyone, whoever has a key of Instar, or the owner alone. */
  readonly access: 'anyone' | 'caller' | 'owner';
  run(context: GatewayContext, asked: ApiRequest): Promise<ApiReply | Failure>;
}

export interface ApiRequest {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** The path's `:id`; empty when the route has none. */
  readonly id: string;
  readonly caller: Caller;
  /** Limits the body that is read. */
  readonly slot: AdmissionSlot;
}

/** What a route of the API works on. */
type RouteApis = OwnerApis & Pick<GatewayContext, 'status'>;

const MOST_BODY = 1024 * 1024;
const MOST_LISTED = 1000;
/** A whole folder of skills may be sent at once. */
const MOST_CHANGES = 16 * 1024 * 1024;

const control = (action: ControlAction, paceOf?: (records: object) => ReportPace): ApiRoute => ({
  access: 'caller',
  run: async (context, { request, slot, caller }) => {
    const received = await receiveBody(request, MOST_BODY, slot);
    if ('kind' in received) return received;
    const { records, clock } = context;
    const tooMany = paceOf?.(records)(caller, clock.monotonic());
    if (tooMany !== undefined) return tooMany;
    const done = await runControlAction(
      action,
      { records, now: clock.now },
      received.body ?? received.raw,
      caller,
      request,
    );
    return 'kind' in done ? (done as Failure) : { json: done as JsonObject };
  },
});

type AnswerRoute = (apis: RouteApis, asked: ApiRequest) => Promise<Serializable | Failure | undefined>;

/** A route for the owner alone. */
const owned = (answer: AnswerRoute, noun = 'session'): ApiRoute => answered('owner', answer, noun);

/** A route for clients: it neither changes anything nor tells what others said. */
const shared = (answer: AnswerRoute, noun = 'session'): ApiRoute => answered('caller', answer, noun);

const answered = (access: 'caller' | 'owner', answer: AnswerRoute, noun: string): ApiRoute => ({
  access,
  run: async (context, asked) => {
    try {
      const apis = { ...context.apisFor(asked.caller.id), status: context.status };
      const value = await answer(apis, asked);
      if (value === undefined)
        return createFailure('not-found', `No ${noun} named "${asked.id.slice(0, 128)}".`);
      return isFailure(value) ? value : { json: value };
    } catch (error) {
      if (error instanceof StoreError)
        return createFailure('overloaded', error.message, { retryAfterMs: 5000 });
      if (error instanceof TrainingError)
        return createFailure(error.category === 'user' ? 'bad-request' : 'overloaded', error.message);
      if (isRefusedRequest(error)) return createFailure('bad-request', error.message);
      throw error;
    }
  },
});

/** An error whose message tells the person what to change; it has the status of a wrong request. */
const isRefusedRequest = (error: unknown): error is Error =>
  error instanceof Error &&
  ((error as { readonly status?: unknown }).status === 400 || error.name === 'ConfigError');

const isFailure = (value: Serializable | Failure): value is Failure =>
  typeof value === 'object' && value !== null && 'kind' in value && 'status' in value && 'message' in value;

const OPERATIONS: ReadonlyMap<string, ApiRoute> = new Map<string, ApiRoute>([
  [
    'GET /healthz',
    {
      access: 'anyone',
      run: async ({ recorder }) => ({
        json: recorder.isRecording?.() === false ? { ok: true, recording: false } : { ok: true },
      }),
    },
  ],
  [
    'GET /metrics',
    {
      access: 'anyone',
      run: async ({ metrics }, { caller }) => ({
        text: caller.kind === 'anonymous' ? HEALTH_METRIC : await metrics(),
        type: 'text/plain; version=0.0.4; charset=utf-8',
      }),
    },
  ],
  ['GET /api/status', shared(async ({ status }) => status())],
  ['POST /v1/feedback', control(giveFeedback)],
  ['POST /v1/events', control(reportEvent, reportPaceOf)],
  ['GET /api/sessions', owned(async ({ api }, { query }) => [...(await api.sessions(sessionQuery(query)))])],
  ['GET /api/sessions/:id', owned(({ api }, { id, query }) => api.session(id, sessionPart(query)))],
  ['GET /api/sessions/:id/trajectory', owned(({ api }, { id }) => api.trajectory(id))],
  ['DELETE /api/sessions/:id', owned(async ({ api }, { id }) => asJson(await api.erase(id)))],
  [
    'GET /api/lessons',
    shared(async ({ lessonsApi }, { query }) => [...(await lessonsApi.list(only(query, ['state', 'kind'])))]),
  ],
  ['GET /api/library', owned(async ({ lessonsApi }) => [...(await lessonsApi.all())])],
  ['GET /api/lessons/:id', owned(({ lessonsApi }, { id }) => lessonsApi.show(id), 'lesson')],
  [
    'GET /api/turns',
    owned(async ({ api }, { query }) => ({ turn: (await api.newestTurn(newestTurnQuery(query))) ?? null })),
  ],
  ['GET /api/turns/:id', owned(({ api }, { id }) => api.turn(id), 'turn')],
  ['GET /api/turns/:id/why', owned(({ lessonsApi }, { id }) => lessonsApi.why(id), 'turn')],
  ['POST /api/lessons', owned(({ lessonsApi }, asked) => withBody(asked, (body) => lessonsApi.change(body)))],
  [
    'POST /api/recall',
    shared(({ lessonsApi }, asked) => {
      const { kind, id } = asked.caller;
      const by = kind === 'owner' ? {} : { by: id };
      return withBody(asked, ({ by: _, ...body }) => lessonsApi.recall({ ...body, ...by }));
    }),
  ],
  ['GET /api/episodes/:id', shared(({ api }, { id }) => api.episode(id), 'episode')],
  ['POST /api/consolidate', owned(({ api }, asked) => withBody(asked, (body) => api.consolidate(body)))],
  ['GET /api/review', owned(({ lessonsApi }) => lessonsApi.review())],
  ['GET /api/train', shared(({ api }) => api.training())],
  [
    'POST /api/train/:id',
    owned(async ({ api }, asked) => {
      const { id } = asked;
      if (id === 'promote' || id === 'rollback') return [...(await api.moveWeights(id))];
      if (id !== 'run') return undefined;
      return withBody(asked, async ({ steps }) => {
        const asked = asNumber(steps);
        if (asked !== undefined && !(Number.isInteger(asked) && asked >= 1 && asked <= 10_000))
          return createFailure('bad-request', 'steps must be a whole number from 1 to 10000.');
        return api.startTraining(asked === undefined ? {} : { steps: asked });
      });
    }, 'training'),
  ],
  ['GET /api/practice', owned(({ api }) => api.practice({ do: 'status' }))],
  [
    'POST /api/practice/:id',
    owned(
      ({ api }, asked) => withBody(asked, (body) => api.practice({ ...body, do: asked.id })),
      'operation',
    ),
  ],
  ['GET /api/learning', shared(({ api }) => api.learning())],
  [
    'POST /api/learning',
    owned(({ api }, asked) =>
      withBody(asked, async ({ on }) =>
        typeof on === 'boolean'
          ? api.switchLearning(on)
          : createFailure('bad-request', 'on must be true or false.'),
      ),
    ),
  ],
  ['GET /api/today', owned(({ lessonsApi }) => lessonsApi.today())],
  ['GET /api/schedule', shared(({ api }) => api.schedule())],
  [
    'POST /api/time/:id',
    owned(async ({ api }, { id }) => (id === 'confirm' ? api.confirmTime() : undefined), 'operation'),
  ],
  [
    'GET /api/schedule/:id',
    owned(async ({ api }, { id }) => (id === 'suggest' ? api.suggestWindows() : undefined), 'schedule'),
  ],
  ['GET /api/adapt', owned(({ api }) => api.adaptation())],
  [
    'GET /api/overlays',
    shared(async ({ api }, { query, caller }) => {
      const asked = compact({
        agent: query.get('agent') ?? undefined,
        project: query.get('project') ?? undefined,
        runKind: query.get('runKind') ?? undefined,
      });
      const isOwner = caller.kind === 'owner';
      if (!isOwner && asked.agent === undefined)
        return createFailure(
          'bad-request',
          'Name the agent: /api/overlays?agent=NAME. The owner key lists all.',
        );
      return (await api.overlays(asked)).filter(({ visibility }) => isOwner || visibility !== 'private');
    }),
  ],
  ['GET /api/keys', owned(async ({ keysApi }) => [...(await keysApi.list())])],
  ['POST /api/keys', owned(({ keysApi }, asked) => withBody(asked, (body) => keysApi.create(body)), 'key')],
  [
    'DELETE /api/keys/:id',
    owned(async ({ keysApi }, { id }) => {
      const revoked = await keysApi.revoke(id);
      return revoked.length === 0 ? undefined : [...revoked];
    }, 'key'),
  ],
  ['GET /api/config', owned(({ keysApi }) => keysApi.settings())],
  ['POST /api/config', owned(({ keysApi }, asked) => withBody(asked, (body) => keysApi.setSetting(body)))],
  ['POST /api/reload', owned(({ keysApi }) => keysApi.reload())],
  ['POST /api/settings', owned(({ keysApi }, asked) => withBody(asked, (body) => keysApi.confirm(body)))],
  [
    'GET /api/audit',
    owned(({ keysApi }, { query }) => keysApi.audit(Number(query.get('limit') ?? 100) || 100)),
  ],
  ['GET /api/generations', owned(async ({ lessonsApi }) => [...(await lessonsApi.generations())])],
  [
    'GET /api/generations/:id/diff',
    owned(
      async ({ lessonsApi }, { id, query }) => lessonsApi.diff(Number(id), Number(query.get('to'))),
      'generation',
    ),
  ],
  [
    'POST /api/generations/:id/rollback',
    owned(({ lessonsApi }, { id }) => lessonsApi.rollback(Number(id)), 'generation'),
  ],
  [
    'POST /api/backup',
    owned(({ api }, asked) =>
      withBody(asked, async (body) => {
        const file = asString(body.file);
        if (file === undefined || !path.isAbsolute(file))
          return createFailure('bad-request', 'file must be an absolute path.');
        await api.backup(file);
        return { file };
      }),
    ),
  ],
]);

/** All that `/metrics` tells a caller without a key. */
const HEALTH_METRIC = '# HELP instar_up Instar answers\n# TYPE instar_up gauge\ninstar_up 1\n';

const asJson = ({ erased, lessons, copies }: ErasureReport): JsonObject => ({
  erased,
  lessons: {
    retired: lessons.retired.map((lesson) => ({ ...lesson })),
    cleaned: lessons.cleaned.map((lesson) => ({ ...lesson })),
  },
  copies,
});

/** The operation for a method and path, with the path's `:id`. */
export function findApiRoute(
  method: string,
  urlPath: string,
): { operation: ApiRoute; id: string } | undefined {
  const [, first = '', second = '', id = '', ...rest] = urlPath.split('/');
  const pattern = id === '' ? urlPath : `/${[first, second, ':id', ...rest].join('/')}`;
  const operation = OPERATIONS.get(`${method} ${pattern}`);
  return operation && { operation, id: decode(id) };
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const only = (query: URLSearchParams, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries([...query].filter(([name]) => names.includes(name)));

async function withBody<T>(
  { request, slot }: ApiRequest,
  answer: (body: JsonObject) => Promise<T>,
): Promise<T | Failure> {
  const received = await receiveBody(request, MOST_CHANGES, slot);
  if ('kind' in received) return received;
  return answer(asObject(parseJson((received.body ?? received.raw).toString('utf8'))));
}

function sessionQuery(query: URLSearchParams): Parameters<OwnerApis['api']['sessions']>[0] {
  const limit = Number(query.get('limit') ?? 50);
  const before = Number(query.get('before') ?? Number.NaN);
  const agent = query.get('agent');
  const project = query.get('project');
  return {
    limit: Number.isInteger(limit) && limit > 0 ? Math.min(limit, MOST_LISTED) : 50,
    ...(Number.isFinite(before) ? { before } : {}),
    ...(agent ? { agent } : {}),
    ...(project ? { project } : {}),
    preview: query.get('preview') === 'true',
    practice: query.get('practice') === 'true',
  };
}

function sessionPart(query: URLSearchParams): SessionPart {
  const count = (name: string): number | undefined => {
    const value = Number(query.get(name) ?? Number.NaN);
    return Number.isInteger(value) && value >= 0 ? value : undefined;
  };
  const isYes = (name: string): boolean => query.get(name) === 'true';
  return compact({
    from: count('from'),
    limit: count('limit'),
    hidesAux: isYes('hidesAux'),
    full: isYes('full'),
  });
}

function newestTurnQuery(query: URLSearchParams): NewestTurnQuery {
  const projects = query.get('projects');
  return compact({
    agent: query.get('agent') || undefined,
    projects: projects === null || projects === '' ? undefined : projects.split(','),
  });
}
