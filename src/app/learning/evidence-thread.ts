import { parentPort, workerData } from 'node:worker_threads';
import { stepBack } from '../../core/step-back.ts';
import { StoreError, type StoreReader } from '../../core/store.ts';
import { openSqliteReader } from '../../store/sqlite-store.ts';
import { GOODBYE } from '../end-thread.ts';
import { appraiseTurns, type EvidenceRecords, evidenceOf } from './evidence-of.ts';

/** Reads what was said and says how it went, on a connection of its own: no stream waits while a long session is read. */
export interface EvidenceQuestion {
  readonly id: number;
  readonly method: 'read' | 'appraise';
  readonly session: string;
  readonly wanted: readonly string[] | undefined;
}

const port = parentPort;
stepBack();
const { file } = workerData as { readonly file: string };
let reader: (StoreReader & { close(): void }) | undefined;

const recordsOf = (store: StoreReader): EvidenceRecords => ({
  turns: async (session) => store.turns(session),
  turn: async (id) => store.turn(id),
  block: async (hash) => store.block(hash),
  rewards: async (of) => store.rewards(of),
  events: async (session) => store.events(session),
});

async function answer({ id, method, session, wanted }: EvidenceQuestion): Promise<void> {
  try {
    reader ??= openSqliteReader(file);
    const only = wanted && new Set(wanted);
    const records = recordsOf(reader);
    const value =
      method === 'read'
        ? await evidenceOf(session, records, only)
        : await appraiseTurns(session, records, only);
    port?.postMessage({ id, value });
  } catch (error) {
    reader?.close();
    reader = undefined;
    const { code, message } = error instanceof StoreError ? error : new StoreError('io', String(error));
    port?.postMessage({ id, code, message });
  }
}

port?.on('message', (question: EvidenceQuestion | typeof GOODBYE) => {
  if (question !== GOODBYE) return void answer(question);
  reader?.close();
  port.close();
});
