import { hash } from 'node:crypto';

/** The lessons that each session was counted for. Sessions are identified by 48 bits of a hash. */
export interface SeenSessions {
  /** True the first time that a session counts for a lesson. */
  take(session: number, lesson: string): boolean;
}

export const sessionKey = (session: string): number => hash('sha256', session, 'buffer').readUIntBE(0, 6);

/** The number of sessions for which the lessons are stored. */
const RECENT = 4096;

/**
 * Of a session that more than `recentSize` others have followed only the key is stored, and it counts for no further lesson:
 * none counts twice, and a million sessions take eight megabytes. Two keys collide once in 2^48; such a session is ignored.
 */
export function createSeenSessions(recentSize = RECENT): SeenSessions {
  const recent = new Map<number, Set<string>>();
  let older = new Float64Array(0);

  /** In batches, since each merge is a pass over all older keys. */
  const age = (): void => {
    if (recent.size < 2 * recentSize) return;
    const old = [...recent.keys()].slice(0, recentSize);
    for (const key of old) recent.delete(key);
    older = merge(older, Float64Array.from(old).sort());
  };

  return {
    take: (session, lesson) => {
      const lessons = recent.get(session);
      if (lessons?.has(lesson) || (lessons === undefined && contains(older, session))) return false;
      if (lessons !== undefined) lessons.add(lesson);
      else {
        recent.set(session, new Set([lesson]));
        age();
      }
      return true;
    },
  };
}

function contains(sorted: Float64Array, key: number): boolean {
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
