import { openWorkerCalls, workerModule } from '../base/worker-thread.ts';
import { StoreError } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/session-evidence.ts';
import type { EvidenceQuestion } from './evidence-thread.ts';

/** The worker starts with the first request, and again after it has ended. */
export function createEvidenceReader(file: string): EvidenceReader {
  const worker = openWorkerCalls<EvidenceQuestion>({
    module: workerModule('./evidence-thread.ts', import.meta.url),
    workerData: { file },
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The learning thread has ended.',
  });
  return {
    read: (session, wanted) => worker.call({ method: 'read', session, wanted }),
    appraise: (session, wanted) => worker.call({ method: 'appraise', session, wanted }),
    close: () => worker.close(),
  };
}
