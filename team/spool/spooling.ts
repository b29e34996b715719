import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { type SpoolState, StoreError } from '../../src/core/store.ts';
import { readBatch } from '../../src/record/store/ledger.ts';
import { countUnreadable, type TurnEncoder } from '../../src/record/turn-encoder.ts';
import type { WriterJob } from '../../src/record/writer-messages.ts';
import { plural } from '../../src/text/phrases.ts';
import { createReplay, type Replay, type ReplayOptions } from './replay-spool.ts';
import { openSpool, type PackedEntry, packEntry, type Spool } from './spool.ts';

type SaidJob = WriterJob & { readonly type: 'append' };

/** What became of the jobs that were spooled. */
interface KeptJobs {
  /** Turns that had no room, or that are invalid. */
  readonly lost: number;
  /** Requests and replies that could not be read. */
  readonly unreadable: number;
  /** What is said beside turns and had no room. */
  readonly refused: readonly SaidJob[];
}

/**
 * Whether what happens now goes into the spool instead of the database. It does from the first failure, or from the first
 * second without an answer, until the database answers and the spool is empty: so the order stays that of what happened.
 */
export interface Spooling {
  isOn(): boolean;
  /**
   * Why a control action is refused; undefined when the database may be asked. `needsAll`: it needs all that came before in the
   * database, so that it has to wait for the end of a replay.
   */
  refusal(needsAll: boolean): StoreError | undefined;
  /** The database has failed. */
  failed(error: StoreError): void;
  /** The database has not answered for a while: turns wait no longer, control actions do. */
  slow(): void;
  /** The database has answered. */
  answered(): void;
  /** Durable on return. Throws `StoreError` when the spool fails, too; nothing is kept then. */
  keep(jobs: readonly WriterJob[], said: readonly SaidJob[]): KeptJobs;
  /** Why new turns are not recorded; undefined while there is room for them. */
  full(): string | undefined;
  /** Undefined while it is off. */
  describe(): SpoolState | undefined;
  /** Writes what is in the spool to the database, in steps. */
  createReplay(options: Omit<ReplayOptions, 'spooling'>): Replay;
  /** Facts that may be written twice, before and from the spool, get a key. */
  withKeys(job: SaidJob): SaidJob;
  readonly spool: Spool;
}

interface SpoolingOptions {
  readonly spool: Spool;
  readonly keeper: TurnEncoder;
  readonly now: () => number;
}

/**
 * When the spool is full, the newest turns are dropped: those in it are durable and were acknowledged, and a session keeps
 * its beginning. The end of a turn whose start is in it is always kept, without the reply if there is no room for that.
 */
export function createSpooling(options: SpoolingOptions): Spooling {
  const { spool, now } = options;
  let fault: StoreError | undefined;
  let since: number | undefined = spool.size().since;
  /** Turns whose start had no room and whose end is still to come. */
  let dropped: ReadonlySet<string> = new Set();
  let isFull = false;
  let isSlow = false;
  const begin = (): void => {
    since ??= now();
  };
  const isOn = (): boolean => fault !== undefined || isSlow || spool.size().rows > 0;

  const keep: Spooling['keep'] = (jobs, said) => {
    begin();
    const group = packGroup(jobs, said, options, dropped);
    spool.add(group.entries);
    dropped = group.dropped;
    isFull = group.isCut;
    return group;
  };

  const spooling: Spooling = {
    spool,
    isOn,
    createReplay: (options) => createReplay({ spooling, ...options }),
    withKeys,
    refusal: (needsAll) => {
      if (fault !== undefined)
        return new StoreError(
          fault.code,
          `${fault.message}. Nothing was changed: try again when the database is back`,
        );
      const { rows, turns } = spool.size();
      if (!needsAll || rows === 0) return undefined;
      const what = `${plural(turns, 'turn')} that the database missed ${turns === 1 ? 'is' : 'are'} being written to it`;
      return new StoreError('away', `${what}. Nothing was changed: try again in a moment`);
    },
    failed: (error) => {
      begin();
      fault = error;
    },
    slow: () => {
      begin();
      isSlow = true;
    },
    answered: () => {
      fault = undefined;
      isSlow = false;
      if (spool.size().rows === 0) {
        since = undefined;
        isFull = false;
      }
    },
    keep,
    full: () =>
      isFull
        ? `what waits for the database has reached ${Math.round(spool.mostBytes / 1_048_576)} MB: new turns are served and not recorded`
        : undefined,
    describe: () => {
      if (!isOn()) return undefined;
      const { turns, bytes } = spool.size();
      const reason = fault?.message ?? (isSlow ? 'the database does not answer' : undefined);
      return {
        reason,
        isAway: fault !== undefined,
        since: since ?? now(),
        turns,
        bytes,
        mostBytes: spool.mostBytes,
      };
    },
  };
  return spooling;
}

interface PackedGroup extends KeptJobs {
  readonly entries: readonly PackedEntry[];
  /** Turns whose start had no room and whose end is still to come, when the entries are durable. */
  readonly dropped: ReadonlySet<string>;
  /** Something had no room. */
  readonly isCut: boolean;
}

/** The entries of jobs, as far as there is room for them. An invalid job must not block the others. */
function packGroup(
  jobs: readonly WriterJob[],
  said: readonly SaidJob[],
  { spool, keeper, now }: SpoolingOptions,
  droppedBefore: ReadonlySet<string>,
): PackedGroup {
  const entries: PackedEntry[] = [];
  const refused: SaidJob[] = [];
  const dropped = new Set(droppedBefore);
  let bytes = 0;
  let lost = 0;
  let unreadable = 0;
  let isCut = false;
  const put = (entry: PackedEntry): void => {
    entries.push(entry);
    bytes += entry.body.length;
  };
  const putTurn = (job: WriterJob): void => {
    const entry = packTurn(job, keeper);
    if (entry?.turn === undefined) return;
    const hasRoom = spool.fits(bytes + entry.body.length);
    isCut ||= !hasRoom;
    unreadable += entry.unreadable;
    if (entry.part === 'end' && dropped.delete(entry.turn)) lost++;
    else if (hasRoom) put(entry);
    else if (entry.part === 'start') dropped.add(entry.turn);
    else if (job.type === 'end') put(packTurn({ ...job, reply: undefined }, keeper) ?? entry);
  };
  for (const job of jobs)
    try {
      putTurn(job);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      if (job.type === 'end') lost++;
      else if (job.type === 'start') dropped.add(job.intent.turn);
    }
  for (const job of said)
    try {
      const entry = packSaid(job, keeper, now());
      if (spool.fits(bytes + entry.body.length)) put(entry);
      else refused.push(job);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      refused.push(job);
    }
  keeper.forget();
  return { entries, dropped, isCut, lost, unreadable, refused };
}

function packTurn(
  job: WriterJob,
  keeper: TurnEncoder,
): (PackedEntry & { readonly unreadable: number }) | undefined {
  if (job.type !== 'start' && job.type !== 'end') return undefined;
  // Without what earlier rows hold: each row can be read by itself, whatever becomes of the others.
  keeper.forget();
  const batch = keeper.batch([job]);
  readBatch(batch);
  const turn = job.type === 'start' ? job.intent.turn : job.turn;
  return {
    ...packEntry({ at: job.at, part: job.type, turn, batch }),
    unreadable: countUnreadable(batch.facts),
  };
}

function packSaid({ facts, blocks }: SaidJob, keeper: TurnEncoder, now: number): PackedEntry {
  const batch = { facts: facts.map(keeper.clean.fact), blocks: blocks.map(keeper.clean.block) };
  readBatch(batch);
  return packEntry({ at: facts[0]?.at ?? now, part: 'said', batch });
}

const withKeys = (job: SaidJob): SaidJob => ({
  ...job,
  facts: job.facts.map((fact) =>
    fact.key === undefined && fact.callerKey === undefined ? { ...fact, key: `once/${randomUUID()}` } : fact,
  ),
});

interface OpenSpoolingOptions {
  readonly file: string;
  readonly mostBytes: number;
  readonly keeper: TurnEncoder;
  /** When this process started. */
  readonly now: number;
  /** Receives the sessions that the spool holds. */
  readonly onChains: (chains: ReturnType<Spool['chains']>) => void;
}

/** Undefined when the file cannot be opened: turns then wait in memory, as they do for a SQLite file. */
export function openSpooling(options: OpenSpoolingOptions): Spooling | undefined {
  const { file, now } = options;
  try {
    return openSpoolFile(options);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code !== 'corrupt') return undefined;
  }
  // The damaged file is kept beside the new one, for the doctor to name.
  renameSync(file, `${file}.damaged-${now}`);
  try {
    return openSpoolFile(options);
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

function openSpoolFile({ file, mostBytes, keeper, now, onChains }: OpenSpoolingOptions): Spooling {
  const spool = openSpool(file, mostBytes);
  // No other process has this home: turns without an end are those of a dead one.
  spool.endCrashed(now);
  const chains = spool.chains();
  if (chains.length > 0) onChains(chains);
  return createSpooling({ spool, keeper, now: Date.now });
}
