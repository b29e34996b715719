/** A judge's ruling on some content; without a score when it was undecided. */
export interface CachedRuling {
  readonly score?: number;
  readonly note: string;
}

/** Keyed by the hash of the judged content. Evicted content is judged again. */
export interface RulingCache {
  get(key: string): Promise<CachedRuling | undefined> | CachedRuling | undefined;
  set(key: string, ruling: CachedRuling): Promise<void> | void;
}

/** An LRU cache of rulings. */
export function createRulingCache(most = 1000): RulingCache {
  const kept = new Map<string, CachedRuling>();
  return {
    get: (key) => {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found;
    },
    set: (key, ruling) => {
      kept.delete(key);
      kept.set(key, ruling);
      const oldest = kept.keys().next().value;
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
  };
}
