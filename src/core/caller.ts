import { memberOfSession, memberPrefix, type Role } from './member.ts';
import type { AttemptLessons } from './practice.ts';

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
  /** The member of the team whose key it is; absent: the home's own. */
  readonly member?: string;
  /** Of a member. */
  readonly role?: Role;
  /** The attempt at a practice task that its key was made for. */
  readonly attempt?: BoundAttempt;
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

/** The record's id of a session that a caller names: members have sessions of their own, whatever their clients call them. */
export const sessionIdFor = ({ member }: Pick<Caller, 'member'>, id: string): string =>
  member === undefined || memberOfSession(id) === member ? id : `${memberPrefix(member)}${id}`;

/** Whether a caller may rate and report on a session that was made with this key; undefined: it is not known. */
export function mayReportOn(caller: Caller, session: string, madeBy: string | undefined): boolean {
  if (caller.kind === 'owner') return true;
  const member = memberOfSession(session);
  return member === undefined && caller.member === undefined
    ? madeBy === undefined || madeBy === caller.id
    : member === caller.member;
}

/** Whether an id is that of the owner's key. */
export const isOwnerId = (id: string | undefined): boolean => id !== undefined && /^owner(?:_|$)/.test(id);

/** Whether a text looks like a key that Instar made. */
export const isOwnKey = (text: string): boolean => /^instar_(?:caller|owner|member|attempt)_/.test(text);
