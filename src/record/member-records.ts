import type { Fact, StoredFact } from '../core/fact.ts';
import { principalOfSession, sessionPrefix } from '../core/principal.ts';
import { parseTurnBodyKey, type Records, type RewardSubject, StoreError } from '../core/store.ts';

/**
 * The record as one member may read it: the own sessions, and nothing of others. Lists are restricted in the store's query; what is read
 * by an id is looked up only when the id is of a session of the member's. What is read through it cannot show another session, whatever
 * asks. Facts about the home itself (jobs, budgets, the audit) are not there.
 */
export function recordsOfMember(records: Records, member: string): Records {
  const { isOwn, isOwnTurn, isOwnFact } = createOwnership(records, member);
  const ofOwn = async <T>(session: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> =>
    isOwn(session) ? read() : [];
  /** As many as asked for, and from a cursor on, as the whole record's. */
  const filterPages = async (
    after: number,
    limit: number,
    read: (after: number, limit: number) => Promise<readonly StoredFact[]>,
  ): Promise<readonly StoredFact[]> => {
    const own: StoredFact[] = [];
    for (let cursor = after; own.length < limit; ) {
      const page = await read(cursor, PAGE);
      for (const stored of page) if (own.length < limit && (await isOwnFact(stored.fact))) own.push(stored);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      cursor = last.seq;
    }
    return own;
  };
  const isOwnSubject = async (of: RewardSubject): Promise<boolean> =>
    'turn' in of ? isOwnTurn(of.turn) : isOwn('session' in of ? of.session : of.turnsOf);
  return {
    facts: (after, limit) => filterPages(after, limit, records.facts),
    factsOf: (type, after, limit) =>
      filterPages(after, limit, (from, most) => records.factsOf(type, from, most)),
    newestOf: async (type, limit) => {
      const newest: StoredFact[] = [];
      for (const stored of await records.newestOf(type, limit))
        if (await isOwnFact(stored.fact)) newest.push(stored);
      return newest;
    },
    recalls: (session) => ofOwn(session, () => records.recalls(session)),
    sampled: (session) => ofOwn(session, () => records.sampled(session)),
    events: (session) => ofOwn(session, () => records.events(session)),
    sessions: (query) => records.sessions({ ...query, member }),
    session: async (id) => (isOwn(id) ? records.session(id) : undefined),
    ids: async (of, pattern, limit) => {
      if (of === 'sessions')
        return records.ids(
          of,
          { ...pattern, beginning: `${sessionPrefix(member, undefined)}${pattern.beginning}` },
          limit,
        );
      const own: string[] = [];
      for (const id of await records.ids(of, pattern, limit)) if (await isOwnTurn(id)) own.push(id);
      return own;
    },
    turns: (session, page) => ofOwn(session, () => records.turns(session, page)),
    turn: async (id) => {
      const turn = await records.turn(id);
      return turn !== undefined && isOwn(turn.session) ? turn : undefined;
    },
    openTurns: async () => [],
    rewards: async (of) => ((await isOwnSubject(of)) ? records.rewards(of) : []),
    judgements: (session, type) => ofOwn(session, () => records.judgements(session, type)),
    block: async (name) => {
      const own = parseTurnBodyKey(name);
      // Any other name is the hash of a text: only a turn that may be read tells it.
      return own === undefined || (await isOwnTurn(own.turn)) ? records.block(name) : undefined;
    },
    chains: async () => [],
    totals: async () => ({ ...(await records.totals()), sessions: 0, turns: 0, blocks: 0, bytes: 0 }),
    check: async () => [],
    append: async (facts, ...rest) => {
      for (const { fact } of facts)
        if (!(await isOwnFact(fact)))
          throw new StoreError('locked', 'a member writes about own sessions only');
      return records.append(facts, ...rest);
    },
    erase: async (session, reason) =>
      isOwn(session)
        ? records.erase(session, reason)
        : { turns: 0, lessons: { retired: [], cleaned: [] }, copies: 0 },
    snapshot: async () => {
      throw new StoreError('locked', 'a copy of the record is for its owner');
    },
  };
}

/** What is of one member. */
function createOwnership(records: Pick<Records, 'turn'>, member: string) {
  const isOwn = (session: string): boolean => principalOfSession(session) === member;
  const sessionOf = async (turn: string): Promise<string | undefined> => (await records.turn(turn))?.session;
  const isOwnTurn = async (turn: string): Promise<boolean> => isOwn((await sessionOf(turn)) ?? '');
  /** A fact that names both a session and a turn is own only with both: otherwise it would speak about somebody else's. */
  const isOwnFact = async (fact: Fact): Promise<boolean> => {
    const session = 'session' in fact ? fact.session : undefined;
    const turn = 'turn' in fact ? fact.turn : undefined;
    if (session === undefined && turn === undefined) return false;
    if (session !== undefined && !isOwn(session)) return false;
    const of = turn === undefined ? undefined : await sessionOf(turn);
    // A turn that is not recorded yet is its session's.
    return of === undefined ? session !== undefined : isOwn(of);
  };
  return { isOwn, isOwnTurn, isOwnFact };
}

const PAGE = 1000;
