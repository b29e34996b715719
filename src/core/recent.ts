/** A map that forgets what was not used lately, some time after it holds `most` entries. */
export interface Recent<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  clear(): void;
}

/**
 * Two maps, the younger of which becomes the older when it is full: what was used since is in the younger one. Cheaper
 * than an exact order, which would delete and insert at every look.
 */
export function createRecent<K, V>(most: number): Recent<K, V> {
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
  };
}
