import { type Caller, sessionIdFor } from '../core/caller.ts';
import type { DaemonApi, KeysApi, LessonsApi, OwnerApis } from '../core/daemon-api.ts';
import { asArray, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { isMemberId } from '../core/member.ts';
import { UNKNOWN_AGENT } from '../core/principal.ts';
import { type Records, StoreError } from '../core/store.ts';
import { giveFeedback } from '../gateway/control-api.ts';
import type { AgentsOfKeys } from '../gateway/identify.ts';
import { isOfTeam } from '../lessons/member-library.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import type { Audit } from '../record/audit-trail.ts';
import { recordsOfMember } from '../record/member-records.ts';
import { ApiError } from './remote-api.ts';
import { withShortIds } from './short-ids.ts';
import { createStoreApi } from './store-api.ts';
import { withAudit } from './with-audit.ts';

interface MemberApisOptions {
  /** What the owner may ask. */
  readonly apis: OwnerApis;
  readonly records: Records;
  /** Undefined while the library cannot be read. */
  readonly lessons: () => OpenLessons | undefined;
  readonly audit: Audit;
  readonly now: () => number;
  /** The agents that keys speak for. */
  readonly agents: AgentsOfKeys;
}

/**
 * What each caller may ask. The owner: everything. A member: what is made over the part of the record and of the library that is that
 * member's, and a refusal for everything else, so that a new operation is the owner's until somebody makes it a member's. A client sees
 * the lessons of its own agents.
 */
export function createApisFor(options: MemberApisOptions): (caller: Caller) => OwnerApis {
  const { apis, audit, records } = options;
  return (caller) => {
    if (caller.kind === 'owner') return withAudit(apis, audit, caller.id);
    const library = (): OpenLessons => {
      const open = options.lessons();
      if (open === undefined) throw new StoreError('io', 'The library cannot be read.');
      return open;
    };
    const { member } = caller;
    const lessonsOf = (): LessonsApi => library().apiFor(member, records);
    if (caller.kind === 'caller' && !isMemberId(member ?? ''))
      return withAudit(clientApis(caller, apis, lessonsOf, options.agents), audit, caller.id);
    if (member === undefined)
      return withAudit({ ...apis, lessonsApi: openedWhenAsked(lessonsOf) }, audit, caller.id);
    const own = recordsOfMember(records, member);
    const parts = {
      api: memberApi(caller, member, own, options),
      lessonsApi: memberLessons(caller, own, library),
      keysApi: {
        ...REFUSED_KEYS,
        members: (request: JsonObject) => apis.keysApi.members({ ...request, asker: member }),
      },
    };
    return withShortIds(withAudit(parts, audit, caller.id), own);
  };
}

/** What a client may ask: about its own sessions and the lessons of its own agents. */
function clientApis(
  caller: Caller,
  { api, lessonsApi, keysApi }: OwnerApis,
  own: () => LessonsApi,
  agents: Pick<AgentsOfKeys, 'agentOf' | 'ownAgent' | 'speaksFor'>,
): OwnerApis {
  const agentOf = (named: unknown): string =>
    (typeof named === 'string' ? agents.agentOf(caller.id, named, false) : agents.ownAgent(caller.id)) ??
    UNKNOWN_AGENT;
  const isOwn = ({ scope }: JsonObject): boolean => {
    const agent = asString(asObject(scope).agent);
    return agent === undefined || agents.speaksFor(caller.id, agent);
  };
  return {
    keysApi,
    api: {
      ...api,
      episode: (id) => api.episode(sessionIdFor(caller, id)),
      overlays: (query) =>
        api.overlays({ ...query, agent: agentOf(query.agent), ...compact({ member: caller.member }) }),
      learning: async () => ({ on: (await api.learning()).on === true, waiting: [] }),
    },
    lessonsApi: {
      ...lessonsApi,
      list: async (query) => (await own().list(query)).filter(isOwn),
      all: async () => (await own().all()).filter(({ text }) => isOwn(asObject(text))),
      recall: ({ episode, agent, ...query }) =>
        own().recall({
          ...query,
          agent: agentOf(agent),
          ...(typeof episode === 'string' ? { episode: sessionIdFor(caller, episode) } : {}),
        }),
    },
  };
}

function memberApi(
  caller: Caller,
  member: string,
  records: Records,
  { apis, now }: MemberApisOptions,
): DaemonApi {
  const { sessions, session, trajectory, turn, newestTurn, erase, episode } = createStoreApi(records, now);
  return {
    sessions,
    session,
    trajectory,
    turn,
    newestTurn,
    // The erasure itself reaches lessons, copies and files.
    erase: async (id) => ((await records.session(id)) === undefined ? erase(id) : apis.api.erase(id)),
    episode: (id) => episode(sessionIdFor(caller, id)),
    feedback: async (body) => {
      const done = await giveFeedback({ records, now }, body, caller);
      if (!done.ok) throw new ApiError(400, done.why.message);
      return done.answer;
    },
    overlays: (query) => apis.api.overlays({ ...query, agent: query.agent ?? 'unknown', member }),
    learning: async () => ({ on: (await apis.api.learning()).on === true, waiting: [] }),
    training: refused,
    startTraining: refused,
    moveWeights: refused,
    practice: refused,
    schedule: refused,
    adaptation: refused,
    consolidate: refused,
    switchLearning: refused,
    backup: refused,
    confirmTime: refused,
  };
}

/** `own` may throw while the library cannot be read: only a question about lessons must fail then. */
const openedWhenAsked = (own: () => LessonsApi): LessonsApi => ({
  list: async (query) => own().list(query),
  all: async () => own().all(),
  show: async (idOrName) => own().show(idOrName),
  why: async (turn) => own().why(turn),
  today: async () => own().today(),
  change: async (body) => own().change(body),
  recall: async (query) => own().recall(query),
  review: async () => own().review(),
  generations: async () => own().generations(),
  diff: async (from, to) => own().diff(from, to),
  rollback: async (to) => own().rollback(to),
});

function memberLessons(caller: Caller, records: Records, open: () => OpenLessons): LessonsApi {
  const own = (): LessonsApi => open().apiFor(caller.member, records);
  return {
    ...openedWhenAsked(own),
    change: async (body) => {
      const { library } = open();
      const refusals = asArray(body.changes).flatMap((change) => {
        const { op, id = '' } = asObject(change);
        const why = whyNotChangedBy(caller, String(op), library.lesson(asString(id) ?? ''));
        return why === undefined ? [] : [{ status: 'refused', id: String(id), why }];
      });
      if (refusals.length > 0) return { generation: library.generation, results: refusals };
      const { identity: _, ...rest } = body;
      return own().change(rest);
    },
    generations: refused,
    diff: refused,
    rollback: refused,
  };
}

/** States alone: a member writes no words into prompts by hand, and nobody's but the own or, as a reviewer, the team's. */
const DECISIONS: ReadonlySet<string> = new Set(['move', 'retire', 'mark']);

function whyNotChangedBy(
  { member, role }: Caller,
  op: string,
  lesson: ReturnType<OpenLessons['library']['lesson']>,
): string | undefined {
  const isOwn = lesson !== undefined && lesson.text.scope.member === member;
  const isTeams = lesson !== undefined && isOfTeam(lesson);
  if (!isOwn && !isTeams) return 'there is no such lesson of yours';
  if (!DECISIONS.has(op)) return `${op} is for an owner of the team`;
  return isTeams && role !== 'reviewer'
    ? 'a reviewer or an owner decides about lessons of the team'
    : undefined;
}

const refused = async (): Promise<never> => {
  throw new ApiError(403, 'This is for an owner of the team.');
};

const REFUSED_KEYS: Omit<KeysApi, 'members'> = {
  list: refused,
  create: refused,
  change: refused,
  revoke: refused,
  confirm: refused,
  settings: refused,
  setSetting: refused,
  reload: refused,
  audit: refused,
};
