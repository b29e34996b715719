import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';

/** Puts a stored request together again from its blocks; undefined when one of them is gone. */
export function readStoredRequest(
  hash: string,
  block: (hash: string) => string | undefined,
): JsonObject | undefined {
  const manifest = asObject(read(block, hash));
  const rest = read(block, asString(manifest.rest) ?? '');
  if (rest === undefined) return undefined;
  const body: Record<string, Json> = { ...(asObject(rest) as Record<string, Json>) };
  for (const [key, list] of Object.entries(asObject(manifest.lists))) {
    const items = readList(block, asString(list) ?? '').map((item) => read(block, item));
    if (items.includes(undefined)) return undefined;
    body[key] = items as Json[];
  }
  return body;
}

function readList(block: (hash: string) => string | undefined, hash: string): readonly string[] {
  const pieces: (readonly string[])[] = [];
  let keep = Number.POSITIVE_INFINITY;
  for (let at: string | undefined = hash; at !== undefined && pieces.length < 1000; ) {
    const list: JsonObject = asObject(read(block, at));
    const base: string | undefined = asString(list.base);
    const kept = base === undefined ? 0 : (asNumber(list.keep) ?? 0);
    const add = asArray(list.add).flatMap((item) => asString(item) ?? []);
    pieces.unshift(add.slice(0, Math.max(0, keep - kept)));
    keep = Math.min(keep, kept);
    at = base;
  }
  return pieces.flat();
}

function read(block: (hash: string) => string | undefined, hash: string): Json | undefined {
  const text = hash === '' ? undefined : block(hash);
  return text === undefined ? undefined : parseJson(text);
}
