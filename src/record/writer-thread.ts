import { renameSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { openSpool } from '../../team/spool/spool.ts';
import { createSpooling, type Spooling } from '../../team/spool/spooling.ts';
import { StoreError } from '../core/store.ts';
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

/** Without a spool turns wait in memory, as they do for a file. */
function openSpooling(
  { file, mostBytes }: NonNullable<WriterSettings['spool']>,
  isSecond = false,
): Spooling | undefined {
  try {
    const spool = openSpool(file, mostBytes);
    // No other process has this home: turns without an end are those of a dead one.
    spool.endCrashed(settings.now);
    const chains = spool.chains();
    if (chains.length > 0) say({ type: 'open', chains });
    return createSpooling({ spool, keeper, now: Date.now });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code !== 'corrupt' || isSecond) return undefined;
    // It is kept beside the new one, for the doctor to name.
    renameSync(file, `${file}.damaged-${settings.now}`);
    return openSpooling({ file, mostBytes }, true);
  }
}
const spooling = settings.spool && openSpooling(settings.spool);

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
