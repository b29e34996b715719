import type { Futures } from './futures.ts';
import type { JournalRecord } from './journal.ts';
import { type Asked, askRecord, endRecord, type History } from './model-store.ts';
import type { Failure, Outcome } from './outcome.ts';

/** The requests to one model by sequence number: the open ones, and those whose result may still be read. */
export interface RequestBook {
  readonly openCount: number;
  idOf(seq: number): string;
  find(seq: number): Asked | undefined;
  /** For a number that was used: the request's fingerprint, and when it is on the disk. */
  known(seq: number): { readonly print: string; readonly stored: Promise<void> } | undefined;
  enter(seq: number, asked: Asked, stored: Promise<void>, leave: () => void): void;
  /** Records a number that was given up without a request. */
  note(seq: number, print: string): void;
  /** Removes a request as if it had never arrived. */
  strike(seq: number): void;
  finish(seq: number, outcome: Outcome): void;
  /** Fails all open requests for the clients; on the disk they stay open. */
  failAll(outcome: Failure): void;
  recall(history: History): void;
  /** The records that a journal with a snapshot at `base` takes over. */
  carry(base: number): readonly JournalRecord[];
}

const KEPT_RESULTS = 256;

export function createRequestBook(modelId: string, futures: Futures): RequestBook {
  const open = new Map<number, Asked & { readonly leave: () => void }>();
  const prints = new Map<number, { readonly print: string; readonly stored: Promise<void> }>();
  const idOf = (seq: number): string => `${modelId}:${seq}`;
  const close = (seq: number): void => {
    open.get(seq)?.leave();
    open.delete(seq);
  };
  const enter = (seq: number, asked: Asked, stored: Promise<void>, leave: () => void): void => {
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
    known: (seq) => prints.get(seq),
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
        if (asked !== undefined) records.push(askRecord(seq, asked));
        else if (seq <= base - KEPT_RESULTS) prints.delete(seq);
        else if (outcome !== undefined && outcome !== 'pending' && outcome.kind !== 'sample')
          records.push(endRecord(seq, print, outcome));
      }
      return records;
    },
  };
}
