import { randomBytes } from 'node:crypto';
import type { Log } from '../src/base/log.ts';
import { hashKey, keyId, newKey } from '../src/config/key.ts';
import { type Caller, isOwnKey } from '../src/core/caller.ts';
import type { StoredFact } from '../src/core/fact.ts';
import type { LimitedKey } from '../src/core/key-limit.ts';
import {
  isMemberChange,
  isMemberId,
  MEMBERS_SUBJECT,
  type Member,
  type MemberChange,
  type MemberKey,
} from '../src/core/member.ts';
import type { Records } from '../src/core/store.ts';
import { foldMember } from '../src/lessons/fold-members.ts';

/** The members of a team, folded from the record: every gateway of one record knows the same. */
export interface Members {
  /** Those who are not removed, oldest first. */
  list(): readonly Member[];
  /** By id, or by name; also a removed one by id. */
  find(idOrName: string): Member | undefined;
  /** Whose key it is, by the key's hash. */
  callerOf(hash: string): Caller | undefined;
  /** Whether sessions of this member may support lessons of the team. The home's own person may, always. */
  shares(member: string | undefined): boolean;
  /** Durable when it resolves. Rejects with `StoreError`. */
  change(member: string, change: MemberChange, by: string): Promise<void>;
  /** A new key; its text is in no other answer. */
  addKey(member: string, name: string, use: MemberKey['use'], by: string): Promise<NewMemberKey>;
  /** Those with limits. */
  limited(): readonly LimitedKey[];
  /** Adds a fact that another gateway wrote. */
  add(stored: StoredFact): void;
  /** Reads what other gateways wrote. */
  catchUp(): Promise<void>;
}

interface NewMemberKey {
  readonly id: string;
  readonly key: string;
}

interface MembersOptions {
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly now: () => number;
  /** With it an unreadable record is read again later: until then the members' keys are not valid. */
  readonly log?: Pick<Log, 'warn'>;
}

const AGAIN_MS = 10_000;

/** The name of a member: it is shown to the others. */
export const isMemberName = (name: string): boolean =>
  /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u.test(name) && !isMemberId(name);

export const newMemberId = (): string => `m_${randomBytes(8).toString('hex')}`;

/** Without a log it rejects with `StoreError` when the record cannot be read. */
export async function openMembers({ records, now, log }: MembersOptions): Promise<Members> {
  const fold = createMemberFold();
  const catchUp = async (): Promise<void> => {
    for (const stored of await records.events(MEMBERS_SUBJECT)) fold.add(stored);
  };
  const tryToRead = async (): Promise<void> => {
    try {
      await catchUp();
    } catch (error) {
      if (log === undefined) throw error;
      log.warn(
        { err: error },
        'the members of the team cannot be read: their keys are refused until they can',
      );
      setTimeout(() => void tryToRead(), AGAIN_MS).unref();
    }
  };
  await tryToRead();
  const change: Members['change'] = async (member, what, by) => {
    const fact = { type: 'member-changed', member, change: what, by } as const;
    const at = now();
    const [appended] = await records.append([{ at, fact }]);
    fold.add({ seq: appended?.seq ?? 0, at, fact });
  };
  return {
    list: () => fold.all().filter(({ removedAt }) => removedAt === undefined),
    find: fold.find,
    callerOf: fold.callerOf,
    shares: (member) => member === undefined || fold.find(member)?.shares === true,
    change,
    addKey: async (member, name, use, by) => {
      const key = newKey(use === 'person' ? 'member' : 'caller');
      const hash = hashKey(key);
      const id = keyId(use === 'person' ? 'member' : 'caller', hash);
      await change(member, { do: 'add-key', key: { id, name, hash, use } }, by);
      return { id, key };
    },
    limited: () => fold.all().flatMap((member) => limitedMember(member) ?? []),
    add: fold.add,
    catchUp,
  };
}

/** What a member's keys may use together; undefined without limits. */
function limitedMember({ id, name, limits = [], fallback, removedAt }: Member): LimitedKey | undefined {
  if (limits.length === 0 || removedAt !== undefined) return undefined;
  return { id, name, tag: id, limits, isMember: true, ...(fallback === undefined ? {} : { fallback }) };
}

interface KeyFinder {
  find(presented: string): Caller | undefined;
}

/** The keys of a home's files and those of its members. */
export const withMemberKeys = <Keys extends KeyFinder>(
  keys: Keys,
  members: Pick<Members, 'callerOf'>,
): Keys => ({
  ...keys,
  find: (presented: string) =>
    // Every request may present the key of a provider: only a key of ours is hashed.
    keys.find(presented) ?? (isOwnKey(presented) ? members.callerOf(hashKey(presented)) : undefined),
});

/** Who is a member, by the facts about members in their order. A fact that was added before changes nothing. */
function createMemberFold() {
  const members = new Map<string, Member>();
  const callers = new Map<string, Caller>();
  const seen = new Set<number>();
  const index = (): void => {
    callers.clear();
    for (const one of members.values()) {
      const { id: member, role, keys, removedAt } = one;
      const limited = limitedMember(one);
      for (const { id, hash, use } of removedAt === undefined ? keys : []) {
        const isOwner = role === 'owner';
        const kind = use === 'client' ? 'caller' : isOwner ? 'owner' : 'member';
        const caller: Caller = { kind, id, mayRate: use === 'person', member, tag: member, role };
        callers.set(hash, limited === undefined ? caller : { ...caller, limited });
      }
    }
  };
  return {
    all: (): readonly Member[] => [...members.values()],
    find: (idOrName: string): Member | undefined =>
      members.get(idOrName) ??
      [...members.values()].find(({ name, removedAt }) => name === idOrName && removedAt === undefined),
    callerOf: (hash: string): Caller | undefined => callers.get(hash),
    add: ({ seq, at, fact }: StoredFact): void => {
      if (fact.type !== 'member-changed' || seen.has(seq) || !isMemberChange(fact.change)) return;
      seen.add(seq);
      const after = foldMember(members.get(fact.member), fact.member, fact.change, at);
      if (after !== undefined) members.set(fact.member, after);
      index();
    },
  };
}
