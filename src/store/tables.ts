import type { StoredFact } from '../core/fact.ts';
import type { Block } from '../core/store.ts';
import type { SessionRow, TurnRow } from './fold.ts';

/**
 * What a store must be able to keep, in steps too small to think: the rules over them are in `ledger`, once for every
 * store. Called inside one transaction.
 */
export interface Tables {
  /** The number of the newest fact; 0 when there is none. */
  lastSeq(): number;
  seqOf(key: string): number | undefined;
  /** `body`: the fact without its type, as JSON. `isInView`: it is found by its turn's view, and needs no other way. */
  addFact(stored: StoredFact, body: string, key: string | undefined, isInView: boolean): void;
  facts(after: number, limit: number): readonly StoredFact[];
  /** At least the facts that tell of this session, itself or through a turn of it. */
  factsAbout(session: string): readonly StoredFact[];
  /** Writes a fact's scrubbed version over it. */
  overwriteFact(stored: StoredFact): void;

  session(id: string): SessionRow | undefined;
  putSession(row: SessionRow): void;
  turn(id: string): TurnRow | undefined;
  turnsOf(session: string): readonly TurnRow[];
  putTurn(row: TurnRow): void;
  addReward(seq: number, turn: string | undefined, session: string | undefined): void;
  /** Forgets sessions, turns and rewards, to be folded again. */
  clearViews(): void;
  /** Sessions with something to erase whose last turn began before this, oldest first. */
  sessionsBefore(lastAt: number, limit: number): readonly string[];

  /** Keeps what a turn said, under the number of the fact that says so; a second time nothing happens. */
  addBody(seq: number, text: string, isHurried: boolean): void;
  /** Takes away what these facts' turns said. */
  dropBodies(facts: readonly number[]): void;
  /** Keeps a text once and notes who uses it; without a text, only the use, and only of a block that is there. */
  addBlock(block: Block, isHurried: boolean): void;
  /** Takes back a session's uses, and the bodies that nobody else uses. */
  dropBlocks(session: string): void;
  putChain(session: string, link: string): void;
  dropChain(session: string): void;
}
