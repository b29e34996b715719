import { describeLimits, type ReadUsed, readLimits } from '../src/api/key-limits.ts';
import { SAFE_FOR_TEAM } from '../src/config/address.ts';
import { asString, compact, type JsonObject } from '../src/core/json.ts';
import type { Lesson } from '../src/core/lesson.ts';
import type { Library } from '../src/core/library.ts';
import { isRole, MEMBER_ROLES, type Member } from '../src/core/member.ts';
import { TEAM } from '../src/core/principal.ts';
import type { Records } from '../src/core/store.ts';
import { teamLesson, whyNotForTeam, withdrawLessons } from '../src/lessons/team-lesson.ts';
import { namesOf, titleOf } from '../src/lessons/title.ts';
import { isMemberName, type Members, newMemberId } from './members.ts';

interface MembersApiOptions {
  readonly members: Members;
  readonly records: Pick<Records, 'sessions' | 'turn'>;
  /** Undefined while it cannot be read. */
  readonly library: () => Promise<Library | undefined>;
  /** The providers that a fallback may be of, by name. */
  readonly providers?: () => Readonly<Record<string, unknown>>;
  readonly used?: ReadUsed;
  /** Why members could not use this gateway safely. */
  readonly unsafe?: string | undefined;
}

/** A request that cannot be carried out; its message says what to change. */
class MemberRequestError extends Error {
  override readonly name = 'MemberRequestError';
  readonly status = 400;
}

const refuse = (message: string): never => {
  throw new MemberRequestError(message);
};

/** The most sessions of a member that are counted. */
const MOST_SESSIONS = 10_000;

type Operation = (team: MembersApiOptions, request: JsonObject, by: string) => Promise<JsonObject>;

/**
 * What people ask about the members of a team, by `do`. `asker`: the member who asks, whose own affairs alone it answers; absent: an
 * owner. `by`: the id of the key, for the record.
 */
export const createMembersApi =
  (team: MembersApiOptions) =>
  async (request: JsonObject): Promise<JsonObject> => {
    const operation = OPERATIONS[asString(request.do) ?? ''];
    if (operation === undefined) return refuse(`Ask for one of: ${Object.keys(OPERATIONS).join(', ')}.`);
    await team.members.catchUp();
    return operation(team, request, asString(request.by) ?? 'owner');
  };

function memberNamed(members: Members, request: JsonObject): Member {
  const name = asString(request.name) ?? asString(request.asker) ?? '';
  const member = members.find(name);
  if (member === undefined || member.removedAt !== undefined)
    return refuse(
      name === ''
        ? 'Name a member.'
        : `No member is named "${name.slice(0, 64)}". See: instar team members list`,
    );
  return member;
}

/** The member that a request is about: for a member who is no owner, the own affairs alone. */
function ownMember(members: Members, request: JsonObject): Member {
  const member = memberNamed(members, request);
  return request.asker === undefined || member.id === request.asker
    ? member
    : refuse('Only an owner of the team may do this for others.');
}

function refuseMembers(request: JsonObject): void {
  if (request.asker !== undefined) refuse('Only an owner of the team may do this.');
}

const addMember: Operation = async ({ members, unsafe }, request, by) => {
  refuseMembers(request);
  if (unsafe !== undefined) return refuse(`No member can be added: ${unsafe}. Fix: ${SAFE_FOR_TEAM}.`);
  const name = asString(request.name)?.trim() ?? '';
  const role = request.role ?? 'member';
  if (!isMemberName(name))
    return refuse('A member needs a name of letters, digits, spaces, dots, dashes or @, at most 64.');
  if (!isRole(role)) return refuse(`A role is one of: ${MEMBER_ROLES.join(', ')}.`);
  if (members.find(name) !== undefined) return refuse(`There is a member named "${name}" already.`);
  const id = newMemberId();
  await members.change(id, { do: 'add', name, role }, by);
  const made = await members.addKey(id, name, 'person', by);
  return { id, name, role, key: made.key };
};

const removeMember: Operation = async ({ members }, request, by) => {
  refuseMembers(request);
  const { id, name } = memberNamed(members, request);
  await members.change(id, { do: 'remove' }, by);
  return { id, name, removed: true };
};

const changeRole: Operation = async ({ members }, request, by) => {
  refuseMembers(request);
  const { role } = request;
  if (!isRole(role)) return refuse(`A role is one of: ${MEMBER_ROLES.join(', ')}.`);
  const { id, name } = memberNamed(members, request);
  await members.change(id, { do: 'role', role }, by);
  return { id, name, role };
};

/** All keys of a member count together. */
const changeLimits: Operation = async ({ members, providers, used }, request, by) => {
  refuseMembers(request);
  const { id, name } = memberNamed(members, request);
  const { limits, fallback } = readLimits(request, providers?.());
  if (limits === undefined) return refuse('Name the limits, or an empty list for none.');
  await members.change(id, { do: 'limit', limits, ...compact({ fallback }) }, by);
  return { id, name, ...describeLimits({ id, limits, ...compact({ fallback }) }, used) };
};

const changeSharing: Operation = async ({ members, library }, request, by) => {
  const { id, name } = ownMember(members, request);
  const shares = request.shares === true;
  if (shares && request.asker === undefined)
    return refuse(
      'Only the member may agree to share: run "instar team members opt-in" with the member’s own key.',
    );
  await members.change(id, { do: 'share', shares }, by);
  const withdrawn = shares ? [] : await withdraw(id, await library());
  return { id, name, shares, withdrawn };
};

/** A new key of a person, or of a program of the same name, replaces the old one. */
const makeKey: Operation = async ({ members }, request, by) => {
  const client = asString(request.client)?.trim() ?? '';
  if (client === '') refuseMembers(request);
  else if (!isMemberName(client))
    return refuse('A client needs a name of letters, digits, spaces, dots, dashes or @.');
  const member = ownMember(members, request);
  const use = client === '' ? 'person' : 'client';
  for (const one of member.keys)
    if (one.use === use && (use === 'person' || one.name === client))
      await members.change(member.id, { do: 'revoke-key', key: one.id }, by);
  const made = await members.addKey(member.id, client === '' ? member.name : client, use, by);
  return { id: made.id, member: member.name, use, key: made.key };
};

const revokeKeys: Operation = async ({ members }, request, by) => {
  const member = ownMember(members, request);
  const keys = member.keys.filter(({ id, name }) => id === request.key || name === request.key);
  if (keys.length === 0) return refuse(`${member.name} has no such key. See: instar team members list`);
  for (const { id } of keys) await members.change(member.id, { do: 'revoke-key', key: id }, by);
  return { member: member.name, revoked: keys.map(({ id }) => id) };
};

const showShared: Operation = async ({ members, records, library }, request) => {
  const { id, name, shares } = ownMember(members, request);
  const all = (await library())?.lessons() ?? [];
  const sessions = await records.sessions({ limit: MOST_SESSIONS, member: id });
  const team: JsonObject[] = [];
  for (const lesson of all.filter(({ text }) => text.scope.member === TEAM)) {
    const mine = await turnsOf(id, lesson, records);
    const isSource = lesson.text.evidence.team?.some(({ member }) => member === id) === true;
    if (mine.length > 0 || isSource) team.push(describeShared(lesson, mine));
  }
  return {
    member: name,
    shares,
    recorded: { sessions: sessions.length, turns: sessions.reduce((sum, { turns }) => sum + turns, 0) },
    private: all.filter(({ text }) => text.scope.member === id).length,
    team,
  };
};

const moveToTeam: Operation = async ({ members, library }, request) => {
  refuseMembers(request);
  const open = await library();
  const lesson = open?.find(asString(request.lesson) ?? '');
  if (open === undefined || lesson === undefined) return refuse('No lesson has this id or name.');
  const why = whyNotForTeam(lesson);
  if (why !== undefined) return refuse(`“${titleOf(lesson)}” cannot be moved to the team: ${why}.`);
  const { member } = lesson.text.scope;
  if (!members.shares(member))
    return refuse(
      `${members.find(member ?? '')?.name ?? 'Its member'} has not agreed to share: the lesson stays private.`,
    );
  const change = teamLesson([lesson], 'trial');
  const { results, generation } = await open.publish({
    id: `move-${change.id}`,
    by: { kind: 'person', name: 'person' },
    reason: 'an owner moved it to the team',
    changes: [change],
  });
  return { generation, results: results.map((result) => ({ ...result })) };
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  list: async ({ members, used }, { asker }) => ({
    members: members.list().map((one) => describeMember(one, asker, used)),
  }),
  add: addMember,
  remove: removeMember,
  role: changeRole,
  limit: changeLimits,
  share: changeSharing,
  key: makeKey,
  revoke: revokeKeys,
  shared: showShared,
  move: moveToTeam,
};

const describeMember = (
  { id, name, role, shares, addedAt, keys, limits, fallback }: Member,
  asker: JsonObject[string],
  used: ReadUsed | undefined,
): JsonObject =>
  compact({
    id,
    name,
    role,
    shares,
    addedAt: new Date(addedAt).toISOString(),
    // Whose programs they are is the member's own affair.
    ...(asker === undefined || asker === id
      ? describeLimits({ id, ...compact({ limits, fallback }) }, used)
      : {}),
    keys: asker === undefined || asker === id ? keys.map(({ hash: _, ...one }) => ({ ...one })) : undefined,
  });

const describeShared = (lesson: Lesson, turns: readonly string[]): JsonObject => ({
  id: lesson.id,
  ...namesOf(lesson),
  state: lesson.state,
  description: lesson.text.description,
  turns: [...turns],
});

async function turnsOf(
  member: string,
  lesson: Lesson,
  records: Pick<Records, 'turn'>,
): Promise<readonly string[]> {
  const own: string[] = [];
  for (const turn of lesson.text.evidence.turns) {
    const view = await records.turn(turn);
    if (view?.session.startsWith(`${member}:`) === true) own.push(turn);
  }
  return own;
}

/** Returns the names. What cannot be withdrawn now, or moves at this moment, is withdrawn by the process that learns. */
async function withdraw(member: string, library: Library | undefined): Promise<string[]> {
  const withdrawn = library && withdrawLessons(library, new Set([member]));
  if (withdrawn === undefined) return [];
  await library?.publish(withdrawn.set);
  return withdrawn.lessons.map(titleOf);
}
