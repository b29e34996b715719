import type { DaemonApi } from '../core/daemon-api.ts';
import type { JsonObject } from '../core/json.ts';

type ConsolidateCommand = (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;

/** Consolidation on demand, in the learning thread. */
export const createConsolidateApi = (command: ConsolidateCommand): Pick<DaemonApi, 'consolidate'> => ({
  consolidate: ({ apply }) => command({ do: 'consolidate', apply: apply === true }),
});
