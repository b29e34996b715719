/** What a judge said of some content; without a score when it could not tell. */
export interface CachedRuling {
  readonly score?: number;
  readonly note: string;
}

/** By the hash of what was judged. What it loses is judged again. */
export interface RulingCache {
  get(key: string): Promise<CachedRuling | undefined> | CachedRuling | undefined;
  set(key: string, ruling: CachedRuling): Promise<void> | void;
}

/** Keeps the rulings that were asked for last. */
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
