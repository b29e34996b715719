import { parentPort, workerData } from 'node:worker_threads';
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

const keeper = createTurnEncoder(
  {
    ...redactor,
    setKeys: (fresh) => {
      keys = fresh;
    },
  },
  settings.gateway?.id,
);

const spooling =
  settings.spool &&
  (await import('../../team/spool/spooling.ts')).openSpooling({
    ...settings.spool,
    keeper,
    now: settings.now,
    onChains: (chains) => say({ type: 'open', chains }),
  });

const writer = createWriter({
  open: () => openStore(settings.place, settings.gateway),
  ready: async (store) => {
    await store.endCrashed(settings.now);
    say({ type: 'open', chains: await store.chains(KEPT_CHAINS) });
  },
  ...(spooling === undefined ? {} : { spooling }),
  keeper,
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
