import { type JsonObject, toJson } from '../core/json.ts';
import type { LearningWorker } from './learning-ports.ts';

/** Questions that everybody answers alike while another process learns. */
const NOTHING_DUE = new Set(['due']);

/**
 * Learning while another process of the same store learns: nothing is followed, and what a person asks of it is refused with the reason.
 * It takes over from the record when this process becomes the leader.
 */
export function createStandby(whoLeads: () => string | undefined): LearningWorker {
  const why = (): string => {
    const leader = whoLeads();
    const where = leader === undefined ? 'another process' : leader;
    return `Learning runs in ${where}, which shares this store: ask there, or stop it and this one takes over within seconds.`;
  };
  return {
    wake: () => undefined,
    look: async () => undefined,
    settle: async () => undefined,
    statements: async () => [],
    shorten: async () => ({ ok: false, why: why(), isRetryable: true }),
    practice: {
      command: async ({ do: what }): Promise<JsonObject> =>
        toJson(NOTHING_DUE.has(String(what)) ? { whyNot: why() } : { refused: why() }),
      close: async () => undefined,
    },
    close: async () => undefined,
  };
}
