import { hash } from 'node:crypto';

/** Which lessons each session was counted for. Sessions are known by 48 bits of a hash, not by their ids. */
export interface SeenSessions {
  /** Whether a session counts for a lesson now for the first time; it is remembered. */
  take(session: number, lesson: string): boolean;
  snapshot(): SeenSnapshot;
}

/** Recent sessions with their lessons, oldest first; older ones as base64 of their keys, six bytes each. */
export interface SeenSnapshot {
  readonly recent: readonly (readonly [session: number, lessons: readonly string[]])[];
  readonly older: string;
}

export const sessionKey = (session: string): number => hash('sha256', session, 'buffer').readUIntBE(0, 6);

const KEY_BYTES = 6;
/** For so many sessions it is remembered for which lessons each was counted. */
const RECENT = 4096;

/**
 * A session that more than `recent` others have followed is remembered by its key alone and counts for nothing more: none
 * counts twice for a lesson, and a million of them take eight megabytes. Two keys are the same once in 2^48: that
 * session is lost, whatever its score.
 */
export function createSeenSessions(from?: SeenSnapshot, recentSize = RECENT): SeenSessions {
  const recent = new Map<number, Set<string>>(from?.recent.map(([key, lessons]) => [key, new Set(lessons)]));
  let older = from === undefined ? new Float64Array(0) : decode(from.older);

  /** In heaps, since each takes a pass over all that are older. */
  const age = (): void => {
    if (recent.size < 2 * recentSize) return;
    const old = [...recent.keys()].slice(0, recentSize);
    for (const key of old) recent.delete(key);
    older = merge(older, Float64Array.from(old).sort());
  };

  return {
    take: (session, lesson) => {
      const lessons = recent.get(session);
      if (lessons?.has(lesson) || (lessons === undefined && holds(older, session))) return false;
      if (lessons !== undefined) lessons.add(lesson);
      else {
        recent.set(session, new Set([lesson]));
        age();
      }
      return true;
    },
    snapshot: () => ({
      recent: [...recent].map(([key, lessons]) => [key, [...lessons]] as const),
      older: encode(older),
    }),
  };
}

function holds(sorted: Float64Array, key: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === key;
}

function merge(one: Float64Array, other: Float64Array): Float64Array<ArrayBuffer> {
  const merged = new Float64Array(one.length + other.length);
  let at = 0;
  let next = 0;
  for (const key of other) {
    const start = at;
    while ((one[at] ?? Number.POSITIVE_INFINITY) < key) at++;
    merged.set(one.subarray(start, at), next);
    next += at - start;
    merged[next++] = key;
  }
  merged.set(one.subarray(at), next);
  return merged;
}

function encode(keys: Float64Array): string {
  const bytes = Buffer.alloc(keys.length * KEY_BYTES);
  for (const [at, key] of keys.entries()) bytes.writeUIntBE(key, at * KEY_BYTES, KEY_BYTES);
  return bytes.toString('base64');
}

function decode(text: string): Float64Array<ArrayBuffer> {
  const bytes = Buffer.from(text, 'base64');
  const count = Math.floor(bytes.length / KEY_BYTES);
  return Float64Array.from({ length: count }, (_, at) => bytes.readUIntBE(at * KEY_BYTES, KEY_BYTES)).sort();
}
