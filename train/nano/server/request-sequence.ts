import type { FailedOutcome, Futures, RequestOutcome } from './futures.ts';
import type { JournalRecord } from './model-journal.ts';
import { type AcceptedRequest, acceptedRecord, type ModelHistory, outcomeRecord } from './model-store.ts';

/** Puts numbered requests that arrive in any order into sequence. */
export interface RequestSequencer {
  /** The first number that has not ended. */
  readonly next: number;
  /** The highest number seen. */
  readonly highest: number;
  /** The number that others wait for, if it has not arrived. */
  readonly missing: number | undefined;
  startAfter(base: number): void;
  /** The number is used; the request cannot run yet. */
  notice(seq: number): void;
  /** The request can run when it is next. */
  enter(seq: number): void;
  /** The request has ended. */
  pass(seq: number): void;
  /** The next number, if its request has entered. */
  current(): number | undefined;
  stop(): void;
}

/** `onLate` is called with the requests that have waited `gapMs` for a missing number, and must pass them. */
export function createRequestSequencer(
  gapMs: number,
  onLate: (late: readonly number[], missing: number) => void,
): RequestSequencer {
  const entered = new Set<number>();
  const ended = new Set<number>();
  let next = 1;
  let highest = 0;
  let timer: NodeJS.Timeout | undefined;

  const isStuck = (): boolean => entered.size > 0 && !entered.has(next);
  const watch = (): void => {
    while (ended.delete(next)) next++;
    if (isStuck() && timer === undefined) {
      timer = setTimeout(() => {
        timer = undefined;
        onLate(
          [...entered].sort((a, b) => a - b),
          next,
        );
      }, gapMs);
      timer.unref();
    } else if (!isStuck()) {
      clearTimeout(timer);
      timer = undefined;
    }
  };

  return {
    get next() {
      return next;
    },
    get highest() {
      return highest;
    },
    get missing() {
      return isStuck() ? next : undefined;
    },
    startAfter: (base) => {
      next = base + 1;
      highest = base;
    },
    notice: (seq) => {
      highest = Math.max(highest, seq);
    },
    enter: (seq) => {
      highest = Math.max(highest, seq);
      entered.add(seq);
      watch();
    },
    pass: (seq) => {
      highest = Math.max(highest, seq);
      entered.delete(seq);
      if (seq >= next) ended.add(seq);
      watch();
    },
    current: () => (entered.has(next) ? next : undefined),
    stop: () => clearTimeout(timer),
  };
}

/** The requests to one model by sequence number: the open ones, and those whose result may still be read. */
export interface RequestRegistry {
  readonly openCount: number;
  idOf(seq: number): string;
  find(seq: number): AcceptedRequest | undefined;
  /** For a number that was used: the request's fingerprint, and when it is on the disk. */
  used(seq: number): { readonly print: string; readonly stored: Promise<void> } | undefined;
  enter(seq: number, asked: AcceptedRequest, stored: Promise<void>, leave: () => void): void;
  /** Records a number that was given up without a request. */
  note(seq: number, print: string): void;
  /** Removes a request as if it had never arrived. */
  strike(seq: number): void;
  finish(seq: number, outcome: RequestOutcome): void;
  /** Fails all open requests for the clients; on the disk they stay open. */
  failAll(outcome: FailedOutcome): void;
  recall(history: ModelHistory): void;
  /** The records that a journal with a snapshot at `base` takes over. */
  carry(base: number): readonly JournalRecord[];
}

const KEPT_RESULTS = 256;

export function createRequestRegistry(modelId: string, futures: Futures): RequestRegistry {
  const open = new Map<number, AcceptedRequest & { readonly leave: () => void }>();
  const prints = new Map<number, { readonly print: string; readonly stored: Promise<void> }>();
  const idOf = (seq: number): string => `${modelId}:${seq}`;
  const close = (seq: number): void => {
    open.get(seq)?.leave();
    open.delete(seq);
  };
  const enter = (seq: number, asked: AcceptedRequest, stored: Promise<void>, leave: () => void): void => {
    open.set(seq, { ...asked, leave });
    prints.set(seq, { print: asked.job.print, stored });
    futures.open(idOf(seq));
  };
  return {
    get openCount() {
      return open.size;
    },
    idOf,
    find: (seq) => open.get(seq),
    used: (seq) => prints.get(seq),
    enter,
    note: (seq, print) => {
      if (!prints.has(seq)) prints.set(seq, { print, stored: Promise.resolve() });
    },
    strike: (seq) => {
      close(seq);
      prints.delete(seq);
      futures.forget(idOf(seq));
    },
    finish: (seq, outcome) => {
      close(seq);
      futures.settle(idOf(seq), outcome);
    },
    failAll: (outcome) => {
      for (const seq of [...open.keys()]) {
        close(seq);
        futures.settle(idOf(seq), outcome);
      }
    },
    recall: ({ asked, ended }) => {
      for (const [seq, { print, outcome }] of ended) {
        prints.set(seq, { print, stored: Promise.resolve() });
        futures.settle(idOf(seq), outcome);
      }
      for (const [seq, one] of asked) {
        if (!ended.has(seq)) enter(seq, one, Promise.resolve(), () => undefined);
      }
    },
    carry: (base) => {
      const records: JournalRecord[] = [];
      for (const [seq, { print }] of [...prints]) {
        const asked = open.get(seq);
        const outcome = futures.peek(idOf(seq));
        if (seq === base) continue;
        if (asked !== undefined) records.push(acceptedRecord(seq, asked));
        else if (seq <= base - KEPT_RESULTS) prints.delete(seq);
        else if (outcome !== undefined && outcome !== 'pending' && outcome.kind !== 'sample')
          records.push(outcomeRecord(seq, print, outcome));
      }
      return records;
    },
  };
}
