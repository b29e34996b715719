import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createLruMap } from '../../base/lru-map.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { VectorCache } from './vector-cache.ts';

/**
 * Embeds texts in the background, in small batches, in the order of the requests. A recently embedded text is cached. When
 * the model fails, the requests stay queued and the next one tries again.
 */
export interface EmbeddingQueue {
  /** The number of queued slots. */
  readonly waiting: number;
  /** The last error of the model. */
  readonly failure: string | undefined;
  want(slot: number, text: string): void;
  /** Like `want`, but starts after a delay or when someone waits for `settled`, so that queries in between do not queue behind it. */
  wantLater(slot: number, text: string): void;
  /** Removes a slot from the queue. */
  forget(slot: number): void;
  /** Resolves when the queue is empty, or when the model has failed. */
  settled(): Promise<void>;
}

const BATCH = 8;
const LATER_MS = 1000;
/** So that a change that is reverted at once costs nothing. */
const REMEMBERED = 512;

export function createEmbeddingQueue(
  embed: EmbeddingModel,
  take: (slot: number, text: string, vector: Float32Array) => void,
  cache?: VectorCache,
): EmbeddingQueue {
  const wanted = new Map<number, string>();
  const later = new Map<number, string>();
  let timer: NodeJS.Timeout | undefined;
  /** The number of pending calls of `settled`. */
  let awaited = 0;
  const known = createLruMap<string, Float32Array>(REMEMBERED);
  let work: Promise<void> | undefined;
  let failure: string | undefined;

  const recallVector = async (key: string): Promise<Float32Array | undefined> =>
    known.get(key) ?? (await cache?.get(key));
  const remember = (key: string, vector: Float32Array): void => {
    known.set(key, vector);
    cache?.put(key, vector);
  };

  /** Only if the slot still wants this text. */
  const deliver = (slot: number, text: string, vector: Float32Array | undefined): void => {
    if (vector === undefined || wanted.get(slot) !== text) return;
    wanted.delete(slot);
    take(slot, text, vector);
  };

  const workOff = async (): Promise<void> => {
    let queue = wanted.entries();
    while (wanted.size > 0) {
      // Lets searches run in between, also when the model answers at once.
      await nextTick();
      const batch = nextOf(queue, BATCH);
      if (batch.length === 0) {
        queue = wanted.entries();
        continue;
      }
      const kept = await Promise.all(batch.map(([, text]) => recallVector(vectorKey(text))));
      for (const [at, [slot, text]] of batch.entries()) deliver(slot, text, kept[at]);
      const missing = batch.filter((_, at) => kept[at] === undefined);
      const vectors = await embed.embed(missing.map(([, text]) => text));
      if (vectors.length < missing.length) throw new Error(`${embed.id} returned too few vectors`);
      for (const [at, [slot, text]] of missing.entries()) {
        const vector = vectors[at];
        if (vector !== undefined) remember(vectorKey(text), vector);
        deliver(slot, text, vector);
      }
    }
  };

  const start = (): void => {
    work ??= workOff()
      .then(
        () => {
          failure = undefined;
        },
        (error: unknown) => {
          failure = error instanceof Error ? error.message : String(error);
        },
      )
      .finally(() => {
        work = undefined;
        if (failure === undefined && wanted.size > 0) start();
      });
  };

  const hurry = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [slot, text] of later) wanted.set(slot, text);
    later.clear();
    if (wanted.size > 0) start();
  };

  return {
    get waiting() {
      return wanted.size + later.size;
    },
    get failure() {
      return failure;
    },
    want: (slot, text) => {
      later.delete(slot);
      wanted.set(slot, text);
      start();
    },
    wantLater: (slot, text) => {
      later.set(slot, text);
      if (awaited > 0) return hurry();
      timer ??= setTimeout(hurry, LATER_MS).unref();
    },
    forget: (slot) => {
      wanted.delete(slot);
      later.delete(slot);
    },
    settled: async () => {
      awaited++;
      hurry();
      while (work !== undefined) await work;
      awaited--;
    },
  };
}

/** The key of a text's vector in the cache. */
export const vectorKey = (text: string): string => createHash('sha1').update(text).digest('base64');

/** From where the last call ended: a new iterator would pass over everything that was taken from a map before. */
function nextOf<T>(entries: Iterator<T, undefined>, most: number): readonly T[] {
  const taken: T[] = [];
  while (taken.length < most) {
    const next = entries.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}
