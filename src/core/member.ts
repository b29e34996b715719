import { isObject } from './json.ts';
import type { KeyLimit } from './key-limit.ts';

/**
 * What a member may do. `member`: uses models, sees the own sessions and lessons and those of the team, rates the own turns.
 * `reviewer`: also approves and rejects lessons of the team. `owner`: everything.
 */
export const MEMBER_ROLES = ['member', 'reviewer', 'owner'] as const;
export type Role = (typeof MEMBER_ROLES)[number];

/** A key of a member. Only its hash is kept. `person`: for the member alone. `client`: for a program, which asks models with it. */
export interface MemberKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly use: 'person' | 'client';
}

export type MemberChange =
  | { readonly do: 'add'; readonly name: string; readonly role: Role }
  | { readonly do: 'remove' }
  | { readonly do: 'role'; readonly role: Role }
  /** Whether sessions of the member may support lessons of the team, and their words be in them. */
  | { readonly do: 'share'; readonly shares: boolean }
  /** What all keys of the member may use together; an empty list: as much as they ask for. */
  | { readonly do: 'limit'; readonly limits: readonly KeyLimit[]; readonly fallback?: string }
  | { readonly do: 'add-key'; readonly key: MemberKey }
  | { readonly do: 'revoke-key'; readonly key: string };

/** Something changed about a member of the team. All members are folded from these facts. Never the text of a key. */
export type MemberFact = {
  readonly type: 'member-changed';
  readonly member: string;
  readonly change: MemberChange;
  /** The id of the key that changed it. */
  readonly by: string;
};

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** False: opted out. */
  readonly shares: boolean;
  readonly addedAt: number;
  /** Keys that are valid. */
  readonly keys: readonly MemberKey[];
  readonly removedAt?: number;
  readonly limits?: readonly KeyLimit[];
  readonly fallback?: string;
}

/** The subject of facts about members. */
export const MEMBERS_SUBJECT = 'team/members';

const MEMBER_ID = /^m_[0-9a-z]{8,40}$/;
export const isMemberId = (id: string): boolean => MEMBER_ID.test(id);

export const isRole = (value: unknown): value is Role => MEMBER_ROLES.some((role) => role === value);

/** For facts of newer versions: what cannot be read changes nothing. */
export const isMemberChange = (value: unknown): value is MemberChange =>
  isObject(value) && typeof value.do === 'string';
