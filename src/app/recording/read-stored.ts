import { type Json, type JsonObject, parseJson } from '../../core/json.ts';
import type { Records } from '../../core/records.ts';
import { readStoredRequest } from './read-request.ts';

/** What blocks say, by their names; shared between requests that build on each other, and parsed once for all of them. */
export type KnownBlocks = Map<string, Json | undefined>;

/** Blocks come from another thread one by one: read what is asked for until nothing more is missing. */
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
