import { parentPort, workerData } from 'node:worker_threads';
import type { AsyncStore } from '../core/store.ts';
import { createRedactor } from '../redact/redact.ts';
import { openStore } from './open-store.ts';
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
const open = async (): Promise<AsyncStore> => {
  const store = await openStore(settings.place, settings.gateway);
  try {
    // After a reopen the open turns are those of this process, and still run.
    if (!isOpenedBefore) await store.endCrashed(settings.now);
    isOpenedBefore = true;
    say({ type: 'open', chains: await store.chains(KEPT_CHAINS) });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
};

const writer = createWriter({
  open,
  keeper: createTurnEncoder(
    {
      ...redactor,
      setKeys: (fresh) => {
        keys = fresh;
      },
    },
    settings.gateway?.id,
  ),
  say,
  later: (ms, run) => void setTimeout(run, ms),
});

port?.on('message', (packed: PackedJobs) => {
  const jobs = unpackJobs(packed, settings.ring);
  writer.take(jobs);
  const closing = jobs.find((job) => job.type === 'close');
  if (closing === undefined) return;
  void writer.close().then(() => {
    say({ type: 'answer', id: closing.id, value: undefined });
    port.close();
  });
});
void writer.begin();
