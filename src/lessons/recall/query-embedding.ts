import { createLruMap } from '../../base/lru-map.ts';
import type { EmbeddingModel } from '../../core/recall.ts';

/**
 * The embedding of a query, immediate for a recent one. Undefined when the model fails, is not loaded yet, is over its rate
 * limit or takes longer than the time limit; a late vector is cached for the next time. With `isUnhurried` no limit applies.
 * The time limit follows the machine: where the model usually needs longer than `patienceMs`, a wait of `patienceMs` would
 * cost that time and find nothing, so it is twice the usual time, and `MOST_PATIENCE` times `patienceMs` at most.
 */
export type QueryEmbedding = (text: string, isUnhurried?: boolean) => Promise<Float32Array | undefined>;

const REMEMBERED = 2000;
/** Word pieces that are read of a task. On our tasks 48 find what 128 find, in two fifths of the time; 32 lose some long ones. */
const MOST_PIECES = 48;
const MOST_PATIENCE = 4;
/** The share of the newest time in the usual one. */
const NEWEST_SHARE = 0.2;
/** The cost of a refusal in tokens of the bucket: during a flood of requests the model is not called at all. */
const REFUSAL = 0.2;

/** A token bucket for a slow model: requests beyond it get no vector and do not wait. */
export interface EmbeddingRateLimit {
  readonly atOnce: number;
  readonly perSecond: number;
}

export function createQueryEmbedding(
  embed: EmbeddingModel,
  patienceMs: number,
  demand?: EmbeddingRateLimit,
  monotonic: () => number = () => performance.now(),
): QueryEmbedding {
  let credit = demand?.perSecond ?? 0;
  let creditedAt = monotonic();
  const mayAsk = (): boolean => {
    if (demand === undefined) return true;
    const now = monotonic();
    credit = Math.min(demand.perSecond, credit + ((now - creditedAt) / 1000) * demand.perSecond);
    creditedAt = now;
    if (asked.size < demand.atOnce && credit >= 1) {
      credit--;
      return true;
    }
    credit = Math.max(-2 * demand.perSecond, credit - REFUSAL);
    return false;
  };
  const known = createLruMap<string, Float32Array>(REMEMBERED);
  const asked = new Map<string, Promise<Float32Array | undefined>>();

  /** Milliseconds from a request to its vector; undefined before the first. */
  let usual: number | undefined;
  const longestWait = (): number => {
    const most = MOST_PATIENCE * patienceMs;
    if (usual === undefined) return most;
    // A model that is slower than any wait is not waited for longer than a fast one.
    return usual > most ? patienceMs : Math.max(patienceMs, Math.min(most, 2 * usual));
  };

  const ask = (text: string): Promise<Float32Array | undefined> => {
    // A time that includes loading says nothing about the next one.
    const since = embed.isReady?.() === false ? undefined : monotonic();
    const answer = embed
      .embed([text], MOST_PIECES)
      .then(
        ([vector]) => {
          if (vector !== undefined) known.set(text, vector);
          const took = since === undefined ? undefined : monotonic() - since;
          if (took !== undefined) usual = usual === undefined ? took : usual + NEWEST_SHARE * (took - usual);
          return vector;
        },
        () => undefined,
      )
      .finally(() => asked.delete(text));
    asked.set(text, answer);
    return answer;
  };

  return async (text, isUnhurried = false) => {
    const vector = known.get(text);
    if (vector !== undefined) return vector;
    if (isUnhurried) return asked.get(text) ?? ask(text);
    if (!asked.has(text) && !mayAsk()) return undefined;
    if (embed.isReady?.() === false) {
      // It is loaded now, and the vector is there for the next turn.
      if (!asked.has(text)) void ask(text);
      return undefined;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, longestWait(), undefined);
    });
    const first = await Promise.race([asked.get(text) ?? ask(text), late]);
    clearTimeout(timer);
    return first;
  };
}
