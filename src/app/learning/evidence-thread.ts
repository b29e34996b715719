import { parentPort, workerData } from 'node:worker_threads';
import { serveWorkerCalls } from '../../base/worker-thread.ts';
import { stepBack } from '../../core/step-back.ts';
import { StoreError, type StoreReader } from '../../core/store.ts';
import { openSqliteReader } from '../../store/sqlite-store.ts';
import type { KnownBlocks } from '../recording/read-stored.ts';
import { appraiseTurns, type EvidenceRecords, evidenceOf } from './evidence-of.ts';
import { readTurn } from './stored-turn.ts';

/** A request to the thread, which reads on its own connection: reading a long session never delays a stream. */
export interface EvidenceQuestion {
  readonly method: 'read' | 'appraise';
  readonly session: string;
  readonly wanted: readonly string[] | undefined;
}

stepBack();
const { file } = workerData as { readonly file: string };
let reader: (StoreReader & { close(): void }) | undefined;

const recordsOf = (store: StoreReader): EvidenceRecords => ({
  turns: async (session) => store.turns(session),
  turn: async (id) => store.turn(id),
  rewards: async (of) => store.rewards(of),
  events: async (session) => store.events(session),
  decoder: () => {
    const known: KnownBlocks = new Map();
    return (view) => readTurn(view, { block: async (hash) => store.block(hash) }, known);
  },
});

async function answer({ method, session, wanted }: EvidenceQuestion): Promise<unknown> {
  reader ??= openSqliteReader(file);
  const only = wanted && new Set(wanted);
  const records = recordsOf(reader);
  return method === 'read' ? evidenceOf(session, records, only) : appraiseTurns(session, records, only);
}

serveWorkerCalls<EvidenceQuestion>(parentPort, {
  answer,
  toFailure: (error) => {
    reader?.close();
    reader = undefined;
    return error instanceof StoreError ? error : new StoreError('io', String(error));
  },
  stop: () => reader?.close(),
});
