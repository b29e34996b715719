import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../base/lower-thread-priority.ts';
import { serveWorkerCalls } from '../base/worker-thread.ts';
import { StoreError, type StoreReader } from '../core/store.ts';
import { appraiseTurns, type EvidenceRecords, readSessionEvidence } from '../evidence/session-evidence.ts';
import type { BlockCache } from '../record/request-manifest.ts';
import { openSqliteReader } from '../record/store/sqlite-store.ts';
import { readStoredTurn } from '../record/stored-turn.ts';

/** A request to the thread, which reads on its own connection: reading a long session never delays a stream. */
export interface EvidenceQuestion {
  readonly method: 'read' | 'appraise';
  readonly session: string;
  readonly wanted: readonly string[] | undefined;
}

lowerThreadPriority();
const { file } = workerData as { readonly file: string };
let reader: (StoreReader & { close(): void }) | undefined;

const recordsOf = (store: StoreReader): EvidenceRecords => ({
  turns: async (session) => store.turns(session),
  turn: async (id) => store.turn(id),
  rewards: async (of) => store.rewards(of),
  events: async (session) => store.events(session),
  decoder: () => {
    const known: BlockCache = new Map();
    return (view) => readStoredTurn(view, { block: async (hash) => store.block(hash) }, known);
  },
});

async function answer({ method, session, wanted }: EvidenceQuestion): Promise<unknown> {
  reader ??= openSqliteReader(file);
  const only = wanted && new Set(wanted);
  const records = recordsOf(reader);
  return method === 'read'
    ? readSessionEvidence(session, records, only)
    : appraiseTurns(session, records, only);
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
