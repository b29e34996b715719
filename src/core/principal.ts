import { compact } from './json.ts';

/**
 * Whose a session is, and whose is what was learned in it. Absent: the home's own person, with the clients that this person connected.
 * `m_…`: a member of the team. `k_…`: a key that stands for itself, such as an application's. `c_…`: a client with a provider credential of its own and no key. Each of them may serve end users,
 * who are persons of their own: `u_…` of the home's, `k_….u_…` of a key's, `m_….u_…` of a member's.
 *
 * The ids of sessions begin with it (the gateway writes them so, whatever a client calls its conversation), so that the record and
 * everything that learns can tell whose a session is by its id alone.
 */
const TAG = '[mkc]_[0-9a-z]{8,40}';
const PERSON = 'u_[0-9a-f]{16}';
const PRINCIPAL = new RegExp(`^(?:${TAG}(?:\\.${PERSON})?|${PERSON})$`);
/** `o_…` is a key of the home's own person: a session of its own, for the same person. */
const SESSION = new RegExp(`^(?:(${TAG})|o_[0-9a-z]{8,40})?(?:(?:^|\\.)(${PERSON}))?:`);

/** As the member of a lesson's scope: it is everybody's in this home, keys and members. */
export const TEAM = '*';
/** As the member of a lesson's scope: it is nobody's, since it would mix the words of several. */
export const NOBODY = '-';
/** In what a lesson may reach: the home's own person and every key, but no member of the team. */
export const EVERY_KEY = 'k_*';

const isPrincipal = (id: string): boolean => PRINCIPAL.test(id);

/** Whether a scope may name this as its member. */
export const isScopeMember = (member: string): boolean =>
  member === TEAM || member === NOBODY || isPrincipal(member);

/** Whose session it is; undefined for the home's own person. */
export function principalOfSession(session: string): string | undefined {
  const found = SESSION.exec(session);
  if (found === null) return undefined;
  const [, tag, person] = found;
  return tag !== undefined && person !== undefined ? `${tag}.${person}` : (tag ?? person);
}

/** Whether an id begins like one that the gateway made for a key, a member or an end user. */
export const hasSessionPrefix = (session: string): boolean => (SESSION.exec(session)?.[0].length ?? 0) > 1;

/** How the ids of sessions begin. `tag`: of the key or the member, absent for the first key; `person`: the end user. */
export function sessionPrefix(tag: string | undefined, person: string | undefined): string {
  const whose = [tag, person].filter((part) => part !== undefined).join('.');
  return whose === '' ? '' : `${whose}:`;
}

/** Where work is done, and for whom. `member` absent: for the home's own person. */
export interface PersonsPlace {
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly member?: string | undefined;
}

/** The place of a session's work. */
export const placeOfSession = (session: string, { agent, project }: Omit<PersonsPlace, 'member'> = {}) =>
  compact({ agent, project, member: principalOfSession(session) });

/** The same for the same agent, project and person. */
export const placeKey = ({ agent = '', project = '', member }: PersonsPlace): string =>
  JSON.stringify(member === undefined ? [agent, project] : [agent, project, member]);

/** Whether an end user said it: it is about that person, and never a rule for others. */
const isEndUser = (principal: string | undefined): boolean => principal?.includes('u_') === true;

/** The key or member that serves an end user; the principal itself otherwise. Empty for the home's own person. */
export const basePrincipal = (principal: string | undefined): string =>
  (principal ?? '').replace(/\.?u_[0-9a-f]{16}$/, '');

/** The key, member or credential that a session was made with, as its id begins; empty for the first key. */
export function sessionTag(session: string): string {
  const prefix = SESSION.exec(session)?.[0] ?? '';
  return basePrincipal(prefix.slice(0, -1));
}

/** Whether a principal is a key that stands for itself, or a client with a provider credential of its own; not one of their end users. */
export const standsForItself = (principal: string): boolean =>
  /^[kc]_/.test(principal) && !isEndUser(principal);

/** Whether a lesson with this member in its scope belongs to this principal, who may change it. The team's is everybody's. */
export const isOwnedBy = (scope: string | undefined, principal: string | undefined): boolean =>
  scope === TEAM || (scope ?? '') === (principal ?? '');

/** Whether a lesson with this member in its scope may be shown to this principal: an end user is shown what the key was taught. */
export function isVisibleTo(scope: string | undefined, principal: string | undefined): boolean {
  if (isOwnedBy(scope, principal)) return true;
  const base = basePrincipal(principal);
  if (scope === EVERY_KEY) return !base.startsWith('m_');
  return isEndUser(principal) && (scope ?? '') === base;
}

/**
 * Whether nobody knows whose words a session holds: an application's without an end user, or an unknown program's with the first key.
 * Facts, preferences and identifiers in it stay in it; a rule or a correction holds for its key.
 */
export function isUnattributed(
  session: string,
  { agent, project }: { readonly agent?: string | undefined; readonly project?: string | undefined },
): boolean {
  const principal = principalOfSession(session);
  if (isEndUser(principal) || project !== undefined || session.startsWith('o_')) return false;
  return principal?.startsWith('k_') === true || (agent ?? UNKNOWN_AGENT) === UNKNOWN_AGENT;
}

/** The agent of a request that names none and comes from no known client. */
export const UNKNOWN_AGENT = 'unknown';

/** Ids of attempts cannot be taken for ids of turns. */
export const ATTEMPT_PREFIX = 'attempt:';
export const isAttemptId = (id: string): boolean => id.startsWith(ATTEMPT_PREFIX);
