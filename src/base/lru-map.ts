/** A map that drops its least recently used entries once it holds about `most` of them. */
export interface LruMap<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  clear(): void;
  /** Drops the entries that are not to be kept. */
  keepOnly(isKept: (key: K, value: V) => boolean): void;
}

/**
 * Approximate LRU with two maps: when the young map is full it becomes the old one, and the old one is dropped; an entry
 * used since then is in the young map. Cheaper than an exact order, which deletes and inserts at every read.
 */
export function createLruMap<K, V>(most: number): LruMap<K, V> {
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  const set = (key: K, value: V): void => {
    young.set(key, value);
    if (young.size < most / 2) return;
    old = young;
    young = new Map();
  };
  return {
    set,
    get: (key) => {
      const value = young.get(key);
      if (value !== undefined) return value;
      const earlier = old.get(key);
      if (earlier !== undefined) set(key, earlier);
      return earlier;
    },
    clear: () => {
      young = new Map();
      old = new Map();
    },
    keepOnly: (isKept) => {
      for (const map of [young, old])
        for (const [key, value] of map) if (!isKept(key, value)) map.delete(key);
    },
  };
}
