import type { StoredFact } from '../core/fact.ts';
import {
  isMemberChange,
  isMemberId,
  isRole,
  MEMBERS_SUBJECT,
  type Member,
  type MemberChange,
} from '../core/member.ts';
import type { Records } from '../core/store.ts';

/** A member after a change; undefined for a change of somebody who was never added. */
export function foldMember(
  before: Member | undefined,
  id: string,
  change: MemberChange,
  at: number,
): Member | undefined {
  if (change.do === 'add')
    return isMemberId(id) && isRole(change.role)
      ? { id, name: change.name, role: change.role, shares: true, addedAt: at, keys: [] }
      : before;
  if (before === undefined) return undefined;
  switch (change.do) {
    case 'remove':
      return { ...before, keys: [], removedAt: at };
    case 'role':
      return isRole(change.role) ? { ...before, role: change.role } : before;
    case 'share':
      return { ...before, shares: change.shares };
    case 'limit': {
      const { fallback: _, ...unlimited } = before;
      const { limits, fallback } = change;
      return { ...unlimited, limits, ...(fallback === undefined ? {} : { fallback }) };
    }
    case 'add-key':
      return { ...before, keys: [...before.keys, change.key] };
    case 'revoke-key':
      return { ...before, keys: before.keys.filter(({ id: key }) => key !== change.key) };
  }
}

/** All members of a team by their ids, also those who were removed. */
function foldMembers(facts: readonly StoredFact[]): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  for (const { at, fact } of facts) {
    if (fact.type !== 'member-changed' || !isMemberChange(fact.change)) continue;
    const after = foldMember(members.get(fact.member), fact.member, fact.change, at);
    if (after !== undefined) members.set(fact.member, after);
  }
  return members;
}

/** Whether the words of a member may go to the team; undefined is the home's own person. A removed member's may not. */
export type MayShare = (member: string | undefined) => boolean;

/** Who shares, as of now. */
interface Sharing {
  readonly mayShare: MayShare;
  /** Members who said that nothing of theirs may support the team, also when they were removed since. */
  readonly optedOut: ReadonlySet<string>;
  /** Grows with every change of a member. */
  readonly changes: number;
}

export async function readSharing(records: Pick<Records, 'events'>): Promise<Sharing> {
  const facts = await records.events(MEMBERS_SUBJECT);
  const members = foldMembers(facts);
  return {
    mayShare: (member) => {
      if (member === undefined) return true;
      const found = members.get(member);
      return found?.shares === true && found.removedAt === undefined;
    },
    optedOut: new Set([...members.values()].flatMap(({ id, shares }) => (shares ? [] : [id]))),
    changes: facts.length,
  };
}
