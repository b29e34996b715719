import { createLruMap } from '../base/lru-map.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { FailureCase } from '../core/learn.ts';
import { placeKey } from '../core/principal.ts';
import type { PlacedTurn } from '../evidence/failure-case.ts';
import type { CompareQuotes } from './compare-words.ts';
import { isSaidAgain, type SaidWords } from './distiller/group-sayings.ts';
import { readSayings, type Saying } from './distiller/sayings.ts';

/** The remarks of one agent and project. */
interface RemarkCluster {
  readonly key: string;
  readonly remarks: readonly PlacedTurn[];
}

export interface Remarks {
  /** Facts come in the order of their sequence numbers. */
  add(stored: StoredFact): void;
  /** Places with a remark that nobody has looked at, where more than one session has remarks or corrections. */
  fresh(): readonly RemarkCluster[];
  /** These remarks were compared with each other; one that came in the meantime was not. */
  looked(cluster: RemarkCluster): void;
}

const MOST_REMARKS = 500;
const MOST_OF_PLACE = 64;

/**
 * A fold of facts: what people stated after answers, without blame. A failure is not here, since it is learned from as one; a remark
 * goes when a cycle used it and when its session is erased.
 */
export function createRemarks(): Remarks {
  const remarks = new Map<string, PlacedTurn>();
  /** The turns that nobody has looked at. */
  const fresh = new Set<string>();
  const remove = (turn: string): boolean => {
    fresh.delete(turn);
    return remarks.delete(turn);
  };
  const add = ({ turn, session, scope, verdict, source, isRemarked }: Appraised, at: number): void => {
    const isLooked = remarks.has(turn) && !fresh.has(turn);
    remove(turn);
    // A correction may say what was only stated before.
    if (verdict === 'failure' && source === 'chat')
      for (const one of remarks.values()) if (placeKey(one.scope) === placeKey(scope)) fresh.add(one.turn);
    if (isRemarked !== true || verdict === 'failure' || verdict === 'infrastructure') return;
    remarks.set(turn, { turn, session, at, scope });
    if (!isLooked) fresh.add(turn);
    const [oldest] = remarks.keys();
    if (remarks.size > MOST_REMARKS && oldest !== undefined) remove(oldest);
  };
  return {
    add: ({ at, fact }) => {
      if (fact.type === 'turn-appraised') add(fact, at);
      else if (fact.type === 'cycle-end') fact.turns.forEach(remove);
      else if (fact.type === 'session-erased')
        for (const [turn, { session }] of remarks) if (session === fact.session) remove(turn);
    },
    fresh: () => {
      const all = [...remarks.values()];
      const keys = new Set(all.filter(({ turn }) => fresh.has(turn)).map(({ scope }) => placeKey(scope)));
      return [...keys].map((key) => ({
        key,
        remarks: all.filter(({ scope }) => placeKey(scope) === key).slice(-MOST_OF_PLACE),
      }));
    },
    looked: ({ key, remarks: seen }) => {
      for (const { turn } of seen) fresh.delete(turn);
      // Of very many remarks the oldest are not compared.
      const oldest = seen[0]?.at ?? 0;
      for (const { turn, at, scope } of remarks.values())
        if (at < oldest && placeKey(scope) === key) fresh.delete(turn);
    },
  };
}

type Appraised = Fact & { readonly type: 'turn-appraised' };

/** Finds what was stated in more than one session. What was said after a turn is read once. */
interface RepeatedRemarks {
  find(
    turns: readonly PlacedTurn[],
    read: (turns: readonly PlacedTurn[]) => Promise<readonly FailureCase[]>,
  ): Promise<readonly PlacedTurn[]>;
}

/** A case has the whole material of its turn. */
const withoutCase = ({ failure: _, ...said }: Saying): SaidWords => said;

export function createRepeatedRemarks(compareQuotes: CompareQuotes): RepeatedRemarks {
  const known = createLruMap<string, readonly SaidWords[]>(MOST_REMARKS);
  return {
    find: async (turns, read) => {
      const unread = turns.filter(({ turn }) => known.get(turn) === undefined);
      const cases = unread.length === 0 ? [] : await read(unread);
      for (const { turn } of unread) {
        const found = cases.find((one) => one.turn === turn);
        known.set(turn, found === undefined ? [] : readSayings(found).map(withoutCase));
      }
      const likeness = await compareQuotes(
        turns.flatMap(({ turn }) => known.get(turn) ?? []).map(({ quote }) => quote),
      );
      const saidAfter = ({ turn }: PlacedTurn): readonly SaidWords[] => known.get(turn) ?? [];
      return turns.filter((one) =>
        turns.some(
          (other) =>
            other.session !== one.session &&
            saidAfter(one).some((a) => saidAfter(other).some((b) => isSaidAgain(a, b, likeness))),
        ),
      );
    },
  };
}
