import path from 'node:path';
import { VERSION } from '../../base/package.ts';
import type { Caller } from '../../core/caller.ts';
import type { ErasureReport } from '../../core/daemon-api.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import {
  type ControlAction,
  giveFeedback,
  reportEvent,
  runControlAction,
  withReportedProject,
} from '../../gateway/control-api.ts';
import { receiveBody } from '../../gateway/read-body.ts';
import { decodeLessons } from '../../lessons/codec.ts';
import { evaluateSkill } from '../../lessons/evaluate-skill.ts';
import { lintSkill } from '../lint-skill.ts';
import { type AnswersTo, isByPage, type RouteAnswer, WholeReply } from './answer.ts';
import { describeApi } from './openapi.ts';
import { PAGE_ROUTES } from './page-routes.ts';
import { ROUTES } from './routes.ts';

const MOST_BODY = 1024 * 1024;

/** An action of a client. Its body is read here: it may be of any shape, and the action says what is wrong with it. */
const control =
  (action: ControlAction, paceOf?: (records: object) => ReportPace): RouteAnswer =>
  async ({ context, raw: { request, slot }, caller }) => {
    const received = await receiveBody(request, MOST_BODY, slot);
    if (!received.ok) return received.failure;
    const { records, clock, agents, projectReported } = context;
    const tooMany = paceOf?.(records)(caller, clock.monotonic());
    if (tooMany !== undefined) return tooMany;
    const bytes = received.body ?? received.raw;
    const person = context.personOf(request);
    const control = compact({ records, now: clock.now, agents, person, projectReported });
    const done = await runControlAction(action, control, caller, { request, bytes });
    return done.ok ? done.answer : done.why;
  };

/** All that `/metrics` tells a caller without a key. */
const HEALTH_METRIC = '# HELP instar_up Instar answers\n# TYPE instar_up gauge\ninstar_up 1\n';

export const ANSWERS: AnswersTo<typeof ROUTES> = {
  healthz: async ({ context: { recorder } }) => {
    const waits = recorder.spooled?.();
    return {
      ok: true,
      ...(recorder.isRecording?.() === false ? { recording: false } : {}),
      ...(waits === undefined
        ? {}
        : {
            database: waits.reason === undefined ? 'catching up' : 'away',
            since: new Date(waits.since).toISOString(),
            waitingTurns: waits.turns,
          }),
    };
  },
  metrics: async ({ context: { metrics }, caller }) =>
    new WholeReply({
      text: caller.kind === 'anonymous' || isTeamMember(caller) ? HEALTH_METRIC : await metrics(),
      type: ROUTES.metrics.reply.type,
    }),
  openapi: async () => describeApi([...Object.values(ROUTES), ...Object.values(PAGE_ROUTES)]),
  feedback: control(giveFeedback),
  events: control(reportEvent, reportPaceOf),
  status: async ({ context, caller }) => {
    const status = context.status();
    // The first key lies in the home, beside the record: commands use it while the owner key is locked.
    const isOfHome = caller.kind === 'caller' && caller.member === undefined && caller.tag === undefined;
    if (caller.kind === 'owner' || isOfHome) return status;
    const { version, startedAt, now, pid, settings, recording } = status;
    // The rest counts and names what others do.
    return compact(
      caller.member === undefined
        ? { version, startedAt, now, pid, settings, recording }
        : { version, startedAt, now },
    );
  },
  sessions: async ({ api, query }) => [...(await api.sessions(compact(query)))],
  session: ({ api, id, query }) => api.session(id, compact(query)),
  trajectory: ({ api, id, query }) => api.trajectory(id, compact(query)),
  eraseSession: async ({ api, id }) => encodeErasure(await api.erase(id)),
  lessons: async ({ lessonsApi, query }) => [...(await lessonsApi.list(compact(query)))],
  library: async ({ lessonsApi }) => [...(await lessonsApi.all())],
  lesson: ({ lessonsApi, id }) => lessonsApi.show(id),
  newestTurn: async ({ api, query: { agent, projects } }) => ({
    turn: (await api.newestTurn(compact({ agent, projects: projects?.split(',') }))) ?? null,
  }),
  turn: ({ api, id }) => api.turn(id),
  why: ({ lessonsApi, id }) => lessonsApi.why(id),
  changeLessons: async (asked) =>
    isByPage(asked) && asked.body.identity === true
      ? onlyInTerminal('instar identity')
      : asked.lessonsApi.change(asked.body as JsonObject),
  recall: ({ context, lessonsApi, caller, body }) => {
    const { by: _, ...asked } = withReportedProject(body as JsonObject, caller, context.projectReported);
    return lessonsApi.recall({ ...asked, ...(caller.kind === 'owner' ? {} : { by: caller.id }) });
  },
  evaluateSkill: async ({ lessonsApi, body }) => ({
    ...evaluateSkill(body as JsonObject, {
      lessons: decodeLessons(await lessonsApi.all()),
      described: await lessonsApi.list({}),
      lint: lintSkill,
    }),
    version: VERSION,
  }),
  episode: ({ api, id }) => api.episode(id),
  review: ({ lessonsApi }) => lessonsApi.review(),
  consolidate: ({ api, body }) => api.consolidate(body as JsonObject),
  training: ({ api }) => api.training(),
  startTraining: ({ api, body: { steps, reading, remember } }) =>
    api.startTraining(compact({ steps, reading, remember })),
  promoteWeights: async ({ api }) => [...(await api.moveWeights('promote'))],
  rollbackWeights: async ({ api }) => [...(await api.moveWeights('rollback'))],
  practiceStatus: ({ api }) => api.practice({ do: 'status' }),
  practice: ({ api, id, body }) => api.practice({ ...(body as JsonObject), do: id }),
  learning: ({ api }) => api.learning(),
  switchLearning: ({ api, body }) => api.switchLearning(body.on),
  today: ({ lessonsApi }) => lessonsApi.today(),
  schedule: ({ api }) => api.schedule(),
  confirmTime: ({ api }) => api.confirmTime(),
  adaptation: ({ api }) => api.adaptation(),
  overlays: async ({ api, caller, query }) => {
    const isOwner = caller.kind === 'owner';
    if (!isOwner && query.agent === undefined)
      return createFailure(
        'bad-request',
        'Name the agent: /api/overlays?agent=NAME. The owner key lists all.',
      );
    return (await api.overlays(compact(query))).filter(
      ({ visibility }) => isOwner || visibility !== 'private',
    );
  },
  keys: async ({ keysApi }) => [...(await keysApi.list())],
  createKey: ({ keysApi, body }) => keysApi.create(body as JsonObject),
  changeKey: ({ keysApi, id, body }) => keysApi.change(id, body as JsonObject),
  revokeKey: async ({ keysApi, id }) => {
    const revoked = await keysApi.revoke(id);
    return revoked.length === 0 ? undefined : [...revoked];
  },
  members: ({ keysApi, id, body }) => {
    const { asker: _, ...asked } = body as JsonObject;
    return keysApi.members({ ...asked, do: id });
  },
  settings: ({ keysApi }) => keysApi.settings(),
  setSetting: ({ keysApi, body }) => keysApi.setSetting(body as JsonObject),
  reload: ({ keysApi }) => keysApi.reload(),
  confirmSettings: async (asked) =>
    isByPage(asked)
      ? onlyInTerminal('instar config check --confirm')
      : asked.keysApi.confirm(asked.body as JsonObject),
  audit: ({ keysApi, query }) => keysApi.audit(query.limit),
  generations: async ({ lessonsApi }) => [...(await lessonsApi.generations())],
  diffGenerations: ({ lessonsApi, id, query }) => lessonsApi.diff(Number(id), Number(query.to)),
  rollback: ({ lessonsApi, id }) => lessonsApi.rollback(Number(id)),
  backup: async ({ api, body: { file } }) => {
    if (!path.isAbsolute(file)) return createFailure('bad-request', 'file must be an absolute path.');
    await api.backup(file);
    return { file };
  },
};

/** A member who is no owner, or a client of any member. */
const isTeamMember = ({ kind, member }: Caller): boolean => kind !== 'owner' && member !== undefined;

const onlyInTerminal = (command: string): Failure =>
  createFailure('forbidden', `The page cannot do this. Run in a terminal: ${command}`, { code: 'terminal' });

export const encodeErasure = ({ erased, lessons, copies }: ErasureReport): JsonObject => ({
  erased,
  lessons: {
    retired: lessons.retired.map((lesson) => ({ ...lesson })),
    cleaned: lessons.cleaned.map((lesson) => ({ ...lesson })),
  },
  copies,
});

/** Events that one key may report in a minute. */
const MOST_IN_A_MINUTE = 6_000;
const MINUTE_MS = 60_000;
const MOST_KEYS = 1_000;

interface Minute {
  readonly since: number;
  events: number;
}

/** Counts the events of each key: a program in a loop must not fill the record. Undefined while it may report more. */
type ReportPace = (caller: Caller, monotonic: number) => Failure | undefined;

const paces = new WeakMap<object, ReportPace>();

/** The pace of one record: all routes that report into it share it. */
function reportPaceOf(records: object): ReportPace {
  const known = paces.get(records) ?? createReportPace();
  paces.set(records, known);
  return known;
}

export function createReportPace(most = MOST_IN_A_MINUTE): ReportPace {
  const minutes = new Map<string, Minute>();
  return ({ id, kind }, now) => {
    if (kind === 'owner') return undefined;
    let minute = minutes.get(id);
    if (minute === undefined || now - minute.since >= MINUTE_MS) {
      if (minutes.size >= MOST_KEYS) minutes.clear();
      minute = { since: now, events: 0 };
      minutes.set(id, minute);
    }
    minute.events++;
    if (minute.events <= most) return undefined;
    return createFailure(
      'rate-limited',
      `This key has reported ${most} events within a minute. Report less often, or several in one.`,
      { retryAfterMs: Math.max(1_000, Math.ceil(minute.since + MINUTE_MS - now)) },
    );
  };
}
