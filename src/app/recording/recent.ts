/** A map that keeps its newest entries. Reading one makes it new again. */
export interface Recent<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  clear(): void;
}

export function createRecent<K, V>(most: number): Recent<K, V> {
  const entries = new Map<K, V>();
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > most) for (const oldest of entries.keys()) return void entries.delete(oldest);
    },
    clear: () => entries.clear(),
  };
}
