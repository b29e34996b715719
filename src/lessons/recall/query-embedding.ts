import { createLruMap } from '../../base/lru-map.ts';
import type { EmbeddingModel } from '../../core/recall.ts';

/** The sentence model's vectors of tasks. No turn waits for one: what is computed is there for the next. */
export interface QueryEmbedding {
  /** The vector of a recent task; undefined when it is not known. */
  recent(text: string): Float32Array | undefined;
  /** Begins to compute it in a moment, unless it is known, or the model has too much to do. */
  request(text: string): void;
  /** Waits for it, however long that takes; undefined when the model fails. */
  wait(text: string): Promise<Float32Array | undefined>;
  /** Why the newest one could not be computed. */
  failure(): string | undefined;
}

const REMEMBERED = 2000;
/** Word pieces that are read of a task. On our tasks 48 find what 128 find, in two fifths of the time; 32 lose some long ones. */
const MOST_PIECES = 48;
/** So that the turn, which does not wait for it, has the machine first. */
const LATER_MS = 100;

/** A token bucket for a slow model: what is requested beyond it is not computed. */
export interface EmbeddingRateLimit {
  readonly atOnce: number;
  readonly perSecond: number;
}

export function createQueryEmbedding(
  embed: EmbeddingModel,
  demand?: EmbeddingRateLimit,
  monotonic: () => number = () => performance.now(),
): QueryEmbedding {
  const known = createLruMap<string, Float32Array>(REMEMBERED);
  const asked = new Map<string, Promise<Float32Array | undefined>>();
  const planned = new Set<string>();
  let credit = demand?.perSecond ?? 0;
  let creditedAt = monotonic();
  let failure: string | undefined;
  const mayAsk = (): boolean => {
    if (demand === undefined) return true;
    const now = monotonic();
    credit = Math.min(demand.perSecond, credit + ((now - creditedAt) / 1000) * demand.perSecond);
    creditedAt = now;
    if (asked.size + planned.size >= demand.atOnce || credit < 1) return false;
    credit--;
    return true;
  };
  const ask = (text: string): Promise<Float32Array | undefined> => {
    const answer = embed
      .embed([text], MOST_PIECES)
      .then(
        ([vector]) => {
          if (vector !== undefined) known.set(text, vector);
          failure = undefined;
          return vector;
        },
        (error: unknown) => {
          failure = error instanceof Error ? error.message : String(error);
          return undefined;
        },
      )
      .finally(() => asked.delete(text));
    asked.set(text, answer);
    return answer;
  };
  return {
    recent: (text) => known.get(text),
    request: (text) => {
      if (known.get(text) !== undefined || asked.has(text) || planned.has(text) || !mayAsk()) return;
      planned.add(text);
      setTimeout(() => {
        planned.delete(text);
        if (known.get(text) === undefined && !asked.has(text)) void ask(text);
      }, LATER_MS).unref();
    },
    wait: async (text) => known.get(text) ?? asked.get(text) ?? ask(text),
    failure: () => failure,
  };
}
