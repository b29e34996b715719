import { existsSync } from 'node:fs';
import { type AsyncStore, type Batch, type Block, StoreError } from '../../src/core/store.ts';
import { NOTHING_DONE } from '../../src/record/pending-turns.ts';
import type { WriterMessage } from '../../src/record/writer-messages.ts';
import { openSpool, type Spool, type SpooledRow } from './spool.ts';

/** What one step of a replay did. */
interface ReplayedRows {
  /** Turns that have ended and are in the database now. */
  readonly turns: number;
  /** Turns that could not be read or written, and never will be. */
  readonly lost: number;
  /** Nothing waits any more. */
  readonly isOver: boolean;
}

/** One transaction: other work of the database comes between two of them. */
const STEP = { rows: 200, bytes: 1024 * 1024 };

/** Writes what is in the spool to the database, in steps, and tries again while it is away. */
export interface Replay {
  /** Unless the next step is due already. */
  beginSoon(): void;
  /** Whatever else waits for the database comes between two of them. */
  step(): Promise<void>;
  /** The rest of the spool is being written: what comes meanwhile waits for that, or the spool would never be empty. */
  isLastStep(): boolean;
}

export interface ReplayOptions {
  readonly spooling: { isOn(): boolean; readonly spool: Spool };
  open(): Promise<AsyncStore>;
  /** Called when nothing waits any more. */
  ready(): Promise<unknown>;
  failed(error: unknown): Promise<unknown>;
  say(word: WriterMessage): void;
  /** After each step that the database answered. */
  answered(): void;
  later(ms: number, step: () => Promise<void>): void;
}

const LONGEST_PAUSE_MS = 5000;
/** So few rows are written together. */
const LAST_ROWS = 100;

export function createReplay(options: ReplayOptions): Replay {
  const { spooling, open, ready, failed, say, answered, later } = options;
  const { spool } = spooling;
  let isDue = false;
  let pauseMs = 0;
  let isLastStep = false;
  const step = async (): Promise<void> => {
    isDue = false;
    if (!spooling.isOn()) return;
    try {
      const target = await open();
      // Without rows, to learn whether it answers.
      if (spool.size().rows === 0) await target.append({ facts: [] });
      isLastStep = pauseMs === 0 && spool.size().rows <= LAST_ROWS;
      const { turns, lost, isOver } = await replayOldest(spool, target);
      if (turns + lost > 0) say({ ...NOTHING_DONE, recorded: turns, lost });
      if (isOver) await ready();
      pauseMs = 0;
      answered();
    } catch (error) {
      await failed(error);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || 100);
    } finally {
      isLastStep = false;
    }
  };
  return {
    beginSoon: () => {
      if (isDue) return;
      isDue = true;
      later(pauseMs, step);
    },
    step,
    isLastStep: () => isLastStep,
  };
}

/**
 * Writes the oldest rows to the database, and removes them only when they are there. A process that dies between the two
 * writes them again, and nothing is doubled: a turn has one start and one end, and all else has a key. Rejects with
 * `StoreError` when the database fails; the rows stay.
 */
async function replayOldest(spool: Spool, store: Pick<AsyncStore, 'append'>): Promise<ReplayedRows> {
  const rows = spool.oldest(STEP);
  const last = rows.at(-1);
  if (last === undefined) return { turns: 0, lost: 0, isOver: true };
  const turns = rows.filter(({ part }) => part === 'end').length;
  const lost = await writeRows(rows, store);
  spool.removeUpTo(last.n);
  return { turns: turns - lost, lost, isOver: spool.size().rows === 0 };
}

/** Returns the number of turns that can never be written. */
async function writeRows(rows: readonly SpooledRow[], store: Pick<AsyncStore, 'append'>): Promise<number> {
  try {
    await store.append(joinBatches(rows));
    return countUnreadable(rows);
  } catch (error) {
    if (error instanceof StoreError) throw error;
  }
  // One of them is invalid: it must not block the others.
  let lost = countUnreadable(rows);
  for (const row of rows)
    try {
      await store.append(joinBatches([row]));
    } catch (error) {
      if (error instanceof StoreError) throw error;
      if (row.part === 'end') lost++;
    }
  return lost;
}

const countUnreadable = (rows: readonly SpooledRow[]): number =>
  rows.filter(({ part, batch }) => batch === undefined && part === 'end').length;

/** Each row has the texts of all its bodies: of those that several have, one is enough. */
function joinBatches(rows: readonly SpooledRow[]): Batch {
  const batches = rows.flatMap(({ batch }) => batch ?? []);
  const blocks = new Map<string, Block>();
  for (const block of batches.flatMap((batch) => batch.blocks ?? [])) {
    const name = `${block.hash} ${block.session}`;
    if (blocks.get(name)?.text === undefined) blocks.set(name, block);
  }
  return {
    facts: batches.flatMap(({ facts }) => facts),
    blocks: [...blocks.values()],
    chains: batches.flatMap(({ chains = [] }) => chains),
    isLate: true,
  };
}

/**
 * Replays what a daemon of this home left, for whoever opens the record without one: what is read, erased or moved then is
 * the whole record. The home is locked, so that turns without an end are those of a dead process. Returns the number of turns.
 */
export async function drainSpool(file: string, store: AsyncStore, now: number): Promise<number> {
  if (!existsSync(file)) return 0;
  const spool = openSpool(file, Number.POSITIVE_INFINITY);
  try {
    spool.endCrashed(now);
    for (let turns = 0; ; ) {
      const step = await replayOldest(spool, store);
      turns += step.turns;
      if (step.isOver) return turns;
    }
  } finally {
    spool.close();
  }
}
