import type { StoredFact } from '../../core/fact.ts';
import type { Block, FoldedType } from '../../core/store.ts';
import type { SessionRow, TurnRow } from './views.ts';

/** What the row of a fact has beside it. */
export interface FactColumns {
  /** The fact without its type, as JSON. */
  readonly body: string;
  readonly key: string | undefined;
  /** The row of its turn refers to it, so that it needs no index entry. */
  readonly isInView: boolean;
}

/**
 * The primitive operations of a store, without rules: those are in `ledger`, once for all stores. Called inside a
 * transaction.
 */
export interface Tables {
  /** The number of the newest fact; 0 without facts. */
  lastSeq(): number;
  seqOf(key: string): number | undefined;
  addFact(stored: StoredFact, columns: FactColumns): void;
  facts(after: number, limit: number): readonly StoredFact[];
  /** At least the facts of this session, directly or through one of its turns. */
  factsAbout(session: string): readonly StoredFact[];
  /** All facts of a type, oldest first. */
  factsOf(type: FoldedType): readonly StoredFact[];
  /** At least the `lessons-recalled` facts after a number that name one of these lessons. */
  recallsOf(lessons: readonly string[], after: number): readonly StoredFact[];
  /** Overwrites a fact with its scrubbed version. */
  overwriteFact(stored: StoredFact): void;

  session(id: string): SessionRow | undefined;
  putSession(row: SessionRow): void;
  turn(id: string): TurnRow | undefined;
  turnsOf(session: string): readonly TurnRow[];
  putTurn(row: TurnRow): void;
  addReward(seq: number, turn: string | undefined, session: string | undefined): void;
  /** Deletes sessions, turns and rewards, to be folded again. */
  clearViews(): void;
  /** Sessions that are not erased and whose last turn started before this, oldest first. */
  sessionsBefore(lastAt: number, limit: number): readonly string[];

  /** Stores a turn's body under the number of its fact; idempotent. */
  addBody(seq: number, text: string, isHurried: boolean): void;
  /** Erases the bodies of these facts. */
  dropBodies(facts: readonly number[]): void;
  /** Stores a shared text once and counts its use; without a text only the use, if the block is stored. */
  addBlock(block: Block, isHurried: boolean): void;
  /** Removes a session's uses, and erases the bodies that no other session uses. */
  dropBlocks(session: string): void;
  /** Removes a session's use of one block, and erases its body if no other session uses it. */
  dropUse(session: string, hash: string): void;
  /** The texts of a session: its turns' bodies and the blocks it uses, without those that lessons were shown in. */
  textsOf(session: string): readonly string[];
  putChain(session: string, link: string): void;
  dropChain(session: string): void;
}
