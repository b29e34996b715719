import { asArray, asNumber, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';

/** Looks up the parsed block of a name. */
type Blocks = (name: string) => Json | undefined;

/** Reassembles a stored request from its blocks; undefined when one of them is missing. */
export function readStoredRequest(name: string, block: Blocks): JsonObject | undefined {
  const manifest = asObject(block(name));
  const rest = readPart(block, manifest.rest);
  if (rest === undefined) return undefined;
  const body: Record<string, Json> = { ...(asObject(rest) as Record<string, Json>) };
  for (const key of Object.keys(asObject(manifest.lists))) {
    const items = readList(block, manifest, key)?.map((item) => readPart(block, item));
    if (items === undefined || items.includes(undefined)) return undefined;
    body[key] = items as Json[];
  }
  return body;
}

/** Follows the chain of base manifests; each contributes what it added, cut to what its successor keeps. */
function readList(block: Blocks, newest: JsonObject, key: string): readonly Json[] | undefined {
  const pieces: (readonly Json[])[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  for (let manifest = newest; ; ) {
    const list = asObject(asObject(manifest.lists)[key]);
    const kept = asNumber(list.keep) ?? 0;
    const add = asArray(list.add);
    pieces.unshift(add.slice(0, Math.max(0, wanted - kept)));
    wanted = Math.min(wanted, kept);
    if (wanted === 0) return pieces.flat();
    const base = block(asString(manifest.base) ?? '');
    if (base === undefined) return undefined;
    manifest = asObject(base);
  }
}

/** A part is the name of its block, or inline. */
const readPart = (block: Blocks, part: Json | undefined): Json | undefined =>
  typeof part === 'string' ? block(part) : asObject(part).json;
