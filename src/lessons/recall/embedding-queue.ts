import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createLruMap, type LruMap } from '../../base/lru-map.ts';
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
  /** Resolves when every slot has been looked up in the cache, and has a first vector where it was not there. */
  lookedUp(): Promise<void>;
  /** Resolves when the queue is empty, or when the model has failed. */
  settled(): Promise<void>;
}

interface EmbeddingQueueOptions {
  readonly embed: EmbeddingModel;
  take(slot: number, vector: Float32Array): void;
  readonly cache?: VectorCache | undefined;
  /** A vector to compare with until the model's is there. Never rejects. */
  readonly first?: ((slot: number, text: string) => Promise<void>) | undefined;
}

const BATCH = 8;
const LATER_MS = 1000;
/** So that a change that is reverted at once costs nothing. */
const REMEMBERED = 512;

interface QueuedTexts {
  /** By their slots. */
  readonly wanted: Map<number, string>;
  /** Looked up, and not in the cache. */
  readonly missing: Map<number, string>;
  readonly recent: LruMap<string, Float32Array>;
}

async function lookUp(
  { wanted, missing, recent }: QueuedTexts,
  { take, cache, first }: EmbeddingQueueOptions,
): Promise<void> {
  const vectorOf = async (text: string): Promise<Float32Array | undefined> =>
    recent.get(vectorKey(text)) ?? (await cache?.get(vectorKey(text)));
  for (let queue = wanted.entries(); wanted.size > 0; ) {
    // Lets searches run in between.
    await nextTick();
    const batch = nextOf(queue, BATCH);
    if (batch.length === 0) queue = wanted.entries();
    const vectors = await Promise.all(batch.map(([, text]) => vectorOf(text)));
    for (const [at, [slot, text]] of batch.entries()) {
      // Only if the slot still wants this text.
      if (wanted.get(slot) !== text) continue;
      wanted.delete(slot);
      const vector = vectors[at];
      if (vector !== undefined) take(slot, vector);
      else {
        missing.set(slot, text);
        await first?.(slot, text);
      }
    }
  }
}

/** Asks the model for the next vectors. Rejects when it fails. */
async function computeMissing(
  { missing, recent }: QueuedTexts,
  { embed, take, cache }: EmbeddingQueueOptions,
): Promise<void> {
  const batch = nextOf(missing.entries(), BATCH);
  const vectors = await embed.embed(batch.map(([, text]) => text));
  if (vectors.length < batch.length) throw new Error(`${embed.id} returned too few vectors`);
  for (const [at, [slot, text]] of batch.entries()) {
    const vector = vectors[at];
    if (vector === undefined) continue;
    recent.set(vectorKey(text), vector);
    cache?.put(vectorKey(text), vector);
    if (missing.get(slot) !== text) continue;
    missing.delete(slot);
    take(slot, vector);
  }
}

export function createEmbeddingQueue(options: EmbeddingQueueOptions): EmbeddingQueue {
  const recent = createLruMap<string, Float32Array>(REMEMBERED);
  const texts: QueuedTexts = { wanted: new Map(), missing: new Map(), recent };
  const { wanted, missing } = texts;
  const later = new Map<number, string>();
  let timer: NodeJS.Timeout | undefined;
  /** The number of pending calls of `settled`. */
  let awaited = 0;
  let work: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let failure: string | undefined;

  const lookAll = (): Promise<void> => {
    looking ??= lookUp(texts, options).finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const workOff = async (): Promise<void> => {
    while (wanted.size + missing.size > 0) {
      await lookAll();
      if (missing.size > 0) await computeMissing(texts, options);
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
    // Also while the model computes.
    void lookAll();
  };

  const hurry = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [slot, text] of later) wanted.set(slot, text);
    later.clear();
    if (wanted.size + missing.size > 0) start();
  };

  return {
    get waiting() {
      return wanted.size + missing.size + later.size;
    },
    get failure() {
      return failure;
    },
    want: (slot, text) => {
      later.delete(slot);
      missing.delete(slot);
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
      missing.delete(slot);
      later.delete(slot);
    },
    lookedUp: lookAll,
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
