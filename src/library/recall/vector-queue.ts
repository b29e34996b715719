import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Embed } from '../../core/embed.ts';
import { createRecent } from '../../core/recent.ts';

/**
 * Turns texts into vectors in the background, a few at a time. A text seen lately costs nothing. When the model fails,
 * what was wanted stays wanted and the next wish tries again.
 */
export interface VectorQueue {
  /** How many slots wait. */
  readonly waiting: number;
  /** Why the model gave nothing the last time. */
  readonly failure: string | undefined;
  want(slot: number, text: string): void;
  /** Takes a wish back. */
  forget(slot: number): void;
  /** When nothing waits, or nothing can be had. */
  settled(): Promise<void>;
}

const BATCH = 16;
const REMEMBERED = 8192;

export function createVectorQueue(
  embed: Embed,
  take: (slot: number, vector: Float32Array) => void,
): VectorQueue {
  const wanted = new Map<number, string>();
  const known = createRecent<string, Float32Array>(REMEMBERED);
  let work: Promise<void> | undefined;
  let failure: string | undefined;

  const deliver = (slot: number, text: string, vector: Float32Array): void => {
    if (wanted.get(slot) !== text) return;
    wanted.delete(slot);
    take(slot, vector);
  };

  const workOff = async (): Promise<void> => {
    while (wanted.size > 0) {
      // Lets those who only want to look in between, also when the model answers at once.
      await nextTick();
      const batch = firstOf(wanted, BATCH);
      const missing = batch.filter(([slot, text]) => {
        const vector = known.get(keyOf(text));
        if (vector !== undefined) deliver(slot, text, vector);
        return vector === undefined;
      });
      const vectors = await embed.embed(missing.map(([, text]) => text));
      for (const [at, [slot, text]] of missing.entries()) {
        const vector = vectors[at];
        if (vector === undefined) throw new Error(`${embed.id} gave too few vectors`);
        known.set(keyOf(text), vector);
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

  return {
    get waiting() {
      return wanted.size;
    },
    get failure() {
      return failure;
    },
    want: (slot, text) => {
      wanted.set(slot, text);
      start();
    },
    forget: (slot) => void wanted.delete(slot),
    settled: async () => {
      await work;
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
