import { parentPort, workerData } from 'node:worker_threads';
import type { Store } from '../core/store.ts';
import { createRedactor } from '../redact/redact.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import { createTurnEncoder } from './turn-encoder.ts';
import { createWriter } from './writer.ts';
import { type PackedJobs, unpackJobs, type WriterMessage, type WriterSettings } from './writer-messages.ts';

/** The thread that owns the store. It communicates only by messages. */
const port = parentPort;
const settings = workerData as WriterSettings;
const KEPT_CHAINS = 20_000;

let keys = settings.keys;
const redactor = createRedactor({ known: () => keys, salt: settings.salt });
const say = (word: WriterMessage): void => port?.postMessage(word);

let isOpenedBefore = false;
const open = (): Store => {
  const store = openSqliteStore({ file: settings.file });
  // After a reopen the open turns are those of this process, and still run.
  if (!isOpenedBefore) endCrashedTurns(store, settings.now);
  isOpenedBefore = true;
  say({ type: 'open', chains: store.chains(KEPT_CHAINS) });
  return store;
};

const writer = createWriter({
  open,
  keeper: createTurnEncoder({
    ...redactor,
    setKeys: (fresh) => {
      keys = fresh;
    },
  }),
  say,
  later: (ms, run) => void setTimeout(run, ms),
});

port?.on('message', (packed: PackedJobs) => {
  const jobs = unpackJobs(packed, settings.ring);
  writer.take(jobs);
  const closing = jobs.find((job) => job.type === 'close');
  if (closing === undefined) return;
  writer.close();
  say({ type: 'answer', id: closing.id, value: undefined });
  port.close();
});
writer.begin();

/** Ends the turns that a dead process left open, as `crashed`: neither success nor failure. Returns their number. */
export function endCrashedTurns(store: Store, at: number): number {
  const open = store.openTurns();
  const facts = open.map((turn) => ({
    at,
    key: `${turn}:end`,
    fact: { type: 'turn-end', turn, status: 'crashed', httpStatus: 0, totalMs: 0 } as const,
  }));
  if (facts.length > 0) store.append({ facts });
  return facts.length;
}
