import type { LimitedKey } from './key-limit.ts';
import type { Role } from './member.ts';
import type { AttemptLessons } from './practice.ts';
import { hasSessionPrefix, sessionPrefix } from './principal.ts';

/**
 * Who sent a request. `owner`: the person whose home this is, or a member who is an owner. `member`: another member of the team, in
 * person. `caller`: a client with a key of its own. `credential`: a client with its own provider credential, which a provider accepted. `anonymous`: nobody that is known; served where that
 * needs no key, never learned from.
 */
export interface Caller {
  readonly kind: 'owner' | 'member' | 'caller' | 'credential' | 'anonymous';
  /** Identifies the key without revealing it: recorded with every turn, reward and change. */
  readonly id: string;
  /** Its feedback counts as a person's: the owner's, and an application's that passes its users' ratings on. */
  readonly mayRate: boolean;
  /** Whose key it is: a member of the team, or the key itself where it stands for itself; absent: the home's own person's. */
  readonly member?: string;
  /** How the ids of its sessions begin: a session is a key and a name. Absent: the first key's, whose sessions have their names alone. */
  readonly tag?: string;
  /** Of a member. */
  readonly role?: Role;
  /** The attempt at a practice task that its key was made for. */
  readonly attempt?: BoundAttempt;
  /** What its key may use; absent: as much as it asks for. */
  readonly limited?: LimitedKey;
}

/** What every request with an attempt's key gets. */
export interface BoundAttempt {
  readonly session: string;
  readonly shown: AttemptLessons;
  readonly agent?: string;
  readonly project?: string;
  readonly domain: string;
}

export const ANONYMOUS: Caller = { kind: 'anonymous', id: 'anonymous', mayRate: false };

/** The id of callers with an attempt's key. */
export const PRACTICE = 'practice';

/** A caller with its own provider credential, before the provider has accepted it. */
export const UNVERIFIED = 'unverified';

/** Whether the agent's work under this id may be learned from. Records of earlier versions have no id. */
export const mayTeach = (caller: string | undefined): boolean =>
  caller !== ANONYMOUS.id && caller !== UNVERIFIED && caller !== PRACTICE;

/** Of a key of the home's own person, or of one that stands for itself. */
export const keyTag = (id: string, isOwn: boolean): string => id.replace(/^k_/, isOwn ? 'o_' : 'k_');

interface SessionOwner {
  readonly tag?: string | undefined;
}

/**
 * The record's id of a session that a caller names, whatever others call theirs. It may also be named by its whole id, as replies
 * carry it in `x-instar-session`.
 */
export function sessionIdFor({ tag }: SessionOwner, id: string, person?: string): string {
  const own = sessionPrefix(tag, person);
  const isWhole = hasSessionPrefix(id) && isSessionOf({ tag }, id);
  return id.startsWith(own) || isWhole ? id : `${own}${id}`;
}

/** Whether the id is of a session that was made with this key, or, of a member, with any of that member's keys. */
function isSessionOf({ tag }: SessionOwner, session: string): boolean {
  if (tag === undefined) return !hasSessionPrefix(session) || /^u_[0-9a-f]{16}:/.test(session);
  return session.startsWith(`${tag}:`) || session.startsWith(`${tag}.`);
}

/** Whether a caller may rate and report on a session. `madeBy`: the key of its first turn, in records of earlier versions. */
export function mayReportOn(caller: Caller, session: string, madeBy: string | undefined): boolean {
  if (caller.kind === 'owner') return true;
  if (isSessionOf(caller, session))
    return caller.tag !== undefined || madeBy === undefined || madeBy === caller.id;
  // Sessions of earlier versions have no prefix.
  return !hasSessionPrefix(session) && madeBy === caller.id;
}

/** Whether an id is that of the owner's key. */
export const isOwnerId = (id: string | undefined): boolean => id !== undefined && /^owner(?:_|$)/.test(id);

/** Whether a text is meant for a key of Instar, whole or not: no provider's begin like this. */
export const isOwnKey = (text: string): boolean => /^instar[_-]/i.test(text);
