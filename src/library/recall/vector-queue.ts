import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Embed } from '../../core/embed.ts';
import { createRecent } from '../../core/recent.ts';
import type { VectorShelf } from './vector-file.ts';

/**
 * Turns texts into vectors in the background, a few at a time, in the order of the wishes. A text seen lately costs
 * nothing. When the model fails, what was wanted stays wanted and the next wish tries again.
 */
export interface VectorQueue {
  /** How many slots wait. */
  readonly waiting: number;
  /** Why the model gave nothing the last time. */
  readonly failure: string | undefined;
  want(slot: number, text: string): void;
  /** The same, but not before some time has passed or someone waits for all: what is asked meanwhile need not stand behind it. */
  wantLater(slot: number, text: string): void;
  /** Takes a wish back. */
  forget(slot: number): void;
  /** When nothing waits, or nothing can be had. */
  settled(): Promise<void>;
}

const BATCH = 8;
const LATER_MS = 1000;
/** So that a change that is taken back at once costs nothing. */
const REMEMBERED = 512;

export function createVectorQueue(
  embed: Embed,
  take: (slot: number, text: string, vector: Float32Array) => void,
  shelf?: VectorShelf,
): VectorQueue {
  const wanted = new Map<number, string>();
  const later = new Map<number, string>();
  let timer: NodeJS.Timeout | undefined;
  /** How many wait for all of them. */
  let awaited = 0;
  const known = createRecent<string, Float32Array>(REMEMBERED);
  let work: Promise<void> | undefined;
  let failure: string | undefined;

  const recallVector = async (key: string): Promise<Float32Array | undefined> =>
    known.get(key) ?? (await shelf?.get(key));
  const remember = (key: string, vector: Float32Array): void => {
    known.set(key, vector);
    shelf?.put(key, vector);
  };

  /** To who still wants it. */
  const deliver = (slot: number, text: string, vector: Float32Array | undefined): void => {
    if (vector === undefined || wanted.get(slot) !== text) return;
    wanted.delete(slot);
    take(slot, text, vector);
  };

  const workOff = async (): Promise<void> => {
    while (wanted.size > 0) {
      // Lets those who only want to look in between, also when the model answers at once.
      await nextTick();
      const batch = firstOf(wanted, BATCH);
      const kept = await Promise.all(batch.map(([, text]) => recallVector(keyOf(text))));
      for (const [at, [slot, text]] of batch.entries()) deliver(slot, text, kept[at]);
      const missing = batch.filter((_, at) => kept[at] === undefined);
      const vectors = await embed.embed(missing.map(([, text]) => text));
      if (vectors.length < missing.length) throw new Error(`${embed.id} gave too few vectors`);
      for (const [at, [slot, text]] of missing.entries()) {
        const vector = vectors[at];
        if (vector !== undefined) remember(keyOf(text), vector);
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

const keyOf = (text: string): string => createHash('sha1').update(text).digest('base64');

function firstOf<K, V>(map: ReadonlyMap<K, V>, most: number): readonly (readonly [K, V])[] {
  const taken: (readonly [K, V])[] = [];
  for (const entry of map) {
    if (taken.length === most) break;
    taken.push(entry);
  }
  return taken;
}
