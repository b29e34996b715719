import { type Json, type JsonObject, parseJson } from '../../core/json.ts';
import type { Records } from '../../core/records.ts';
import { readStoredRequest } from './read-request.ts';

/** Parsed blocks by name; shared between requests that are based on each other. */
export type KnownBlocks = Map<string, Json | undefined>;

/** Reads a request from another thread's store: fetches missing blocks until none is missing. */
export async function readStored(
  hash: string,
  records: Pick<Records, 'block'>,
  known: KnownBlocks,
): Promise<JsonObject | undefined> {
  for (;;) {
    const missing: string[] = [];
    const request = readStoredRequest(hash, (name) => {
      if (!known.has(name)) missing.push(name);
      return known.get(name);
    });
    if (missing.length === 0) return request;
    for (const name of missing) known.set(name, parseJson((await records.block(name)) ?? ''));
  }
}
