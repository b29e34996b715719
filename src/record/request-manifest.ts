import { blockHash } from '../base/block-hash.ts';
import { createLruMap } from '../base/lru-map.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import type { Block, Records } from '../core/store.ts';
import { type BodyParts, splitBody } from '../wire/body-parts.ts';
import type { ByteSpan } from '../wire/json-scan.ts';

interface RequestEncoder {
  /**
   * The blocks to store so that the request can be read back under `name`, which is unique: its manifest, and the blocks
   * that the store does not have yet. Undefined if it is not JSON: nothing of it is remembered then.
   */
  keep(name: string, session: string, wire: string, body: Buffer): readonly Block[] | undefined;
  /** Drops the cache of stored blocks: some were erased, or not written. */
  forget(): void;
}

/** An array of a request: the spans of its elements, and each as its manifest part. */
interface KeptList {
  readonly spans: readonly ByteSpan[];
  readonly parts: readonly string[];
}

type Lists = ReadonlyMap<string, KeptList>;

/** The session's previous request, which the next one usually extends. */
interface Last {
  readonly name: string;
  /** A copy: the buffer of a request is reused. */
  readonly body: Buffer;
  readonly cut: BodyParts;
  readonly lists: Lists;
  /** All members that are not arrays: raw, and as a manifest part. */
  readonly rest: readonly [raw: string, part: string];
  readonly depth: number;
}

const MOST_BLOCKS = 20_000;
const MOST_SESSIONS = 128;
const MOST_USES = 5_000;
/** Shorter parts are inlined in the manifest. */
const SHORT = 1_024;
/** Limits how many manifests a read has to follow. */
const DEEPEST = 200;

/**
 * Splits a request into content-addressed blocks: of a long conversation only the new messages are written. A part that was
 * stored before is recognised by its raw bytes and neither parsed nor redacted again.
 */
export function createRequestEncoder(redactToText: (value: Json) => string): RequestEncoder {
  const stored = createLruMap<string, string>(MOST_BLOCKS);
  const usedBy = createLruMap<string, Set<string>>(MOST_SESSIONS);
  const lastOf = createLruMap<string, Last>(MOST_SESSIONS);
  const usesOf = (session: string): Set<string> => {
    const known = usedBy.get(session);
    if (known !== undefined && known.size < MOST_USES) return known;
    const used = new Set<string>();
    usedBy.set(session, used);
    return used;
  };

  return {
    keep: (name, session, wire, body) => {
      const last = lastOf.get(session);
      const cut = splitBody(body, last && { bytes: last.body, parts: last.cut });
      if (cut === undefined) return undefined;
      const blocks: Block[] = [];
      const used = usesOf(session);
      let isBroken = false;
      /** Texts of this request by their raw hash: they are remembered once the whole request was read. */
      const fresh = new Map<string, string>();
      const use = (hash: string, text?: string): string => {
        if (!used.has(hash)) {
          used.add(hash);
          blocks.push(text === undefined ? { hash, session } : { hash, text, session });
        }
        return `"${hash}"`;
      };
      const keepPart = (raw: Buffer | string): string => {
        const seen = raw.length <= SHORT ? undefined : blockHash(raw);
        const known = seen && (stored.get(seen) ?? fresh.get(seen));
        if (known !== undefined) return use(known);
        const text = isBroken ? undefined : redactedText(raw.toString(), redactToText);
        isBroken ||= text === undefined;
        if (text === undefined) return '';
        if (seen === undefined) return `{"json":${text}}`;
        const hash = blockHash(text);
        fresh.set(seen, hash);
        return use(hash, text);
      };
      const lists = new Map<string, KeptList>();
      for (const [key, spans] of cut.lists) {
        const before = last?.lists.get(key);
        const isKnown = last && before ? compareLists(last.body, before.spans, body, spans) : () => false;
        const parts = spans.map(([start, end], index) => {
          const part = isKnown(index) ? before?.parts[index] : undefined;
          return part ?? keepPart(body.subarray(start, end));
        });
        lists.set(key, { spans, parts });
      }
      const rest = last?.rest[0] === cut.rest ? last.rest : ([cut.rest, keepPart(cut.rest)] as const);
      if (isBroken) {
        // The uses that were noted are not written.
        usedBy.set(session, new Set());
        return undefined;
      }
      for (const [seen, hash] of fresh) stored.set(seen, hash);
      const base = last !== undefined && last.depth < DEEPEST ? last : undefined;
      const text = manifestAfter(base, { wire, rest: rest[1], lists });
      const depth = base ? base.depth + 1 : 0;
      lastOf.set(session, { name, body: copyInto(last?.body, body), cut, lists, rest, depth });
      blocks.push({ hash: name, text, session });
      return blocks;
    },
    forget: () => {
      stored.clear();
      usedBy.clear();
      lastOf.clear();
    },
  };
}

/** Whether the element at an index has the same bytes as in the previous request. */
function compareLists(
  last: Buffer,
  before: readonly ByteSpan[],
  body: Buffer,
  spans: readonly ByteSpan[],
): (index: number) => boolean {
  const most = Math.min(before.length, spans.length);
  // Usually nothing before them changed, so that they are at the same offsets: one comparison for all.
  const all = [spans[0]?.[0] ?? 0, spans[most - 1]?.[1] ?? 0] as const;
  const isInPlace = before[0]?.[0] === all[0] && before[most - 1]?.[1] === all[1];
  if (isInPlace && isSame(last, all, body, all)) return (index) => index < most;
  return (index) => {
    const [old, now] = [before[index], spans[index]];
    return old !== undefined && now !== undefined && isSame(last, old, body, now);
  };
}

/** A copy that reuses the memory of the previous one if it is large enough: a conversation grows a little each time. */
function copyInto(old: Buffer | undefined, body: Buffer): Buffer {
  const room = old === undefined ? 0 : old.buffer.byteLength;
  const memory =
    old !== undefined && room >= body.length ? old.buffer : new ArrayBuffer(roomFor(body.length));
  const copy = Buffer.from(memory, 0, body.length);
  body.copy(copy);
  return copy;
}

const roomFor = (length: number): number => Math.ceil((length * 1.25) / 4096) * 4096;

const isSame = (a: Buffer, [aStart, aEnd]: ByteSpan, b: Buffer, [bStart, bEnd]: ByteSpan): boolean =>
  aEnd - aStart === bEnd - bStart && a.compare(b, bStart, bEnd, aStart, aEnd) === 0;

/**
 * The manifest of a stored request, itself a block: `{ wire, rest, base?, lists: { KEY: { keep?, add } } }`. With `base`, a
 * list begins with the first `keep` elements of the same list of that manifest. `rest` has all members that are not lists.
 * A part is the name of its block, or inline (`{ json }`) if it is short: a block costs more than a few hundred bytes.
 */
function manifestAfter(
  last: Last | undefined,
  { wire, rest, lists }: { wire: string; rest: string; lists: Lists },
): string {
  let isBased = false;
  const entries = [...lists].map(([key, { parts }]) => {
    const before = last?.lists.get(key)?.parts ?? [];
    let keep = 0;
    while (keep < before.length && keep < parts.length && before[keep] === parts[keep]) keep++;
    if (keep < 2) keep = 0;
    else isBased = true;
    const add = keep === 0 ? parts : parts.slice(keep);
    return `${JSON.stringify(key)}:{${keep > 0 ? `"keep":${keep},` : ''}"add":[${add.join(',')}]}`;
  });
  const base = isBased && last ? `"base":${JSON.stringify(last.name)},` : '';
  return `{"wire":${JSON.stringify(wire)},"rest":${rest},${base}"lists":{${entries.join(',')}}}`;
}

/** Undefined when it is not JSON, or nested too deeply to be written as JSON again. */
function redactedText(raw: string, redactToText: (value: Json) => string): string | undefined {
  const value = parseJson(raw);
  if (value === undefined) return undefined;
  try {
    return redactToText(trimmed(value));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const LONG = 16_384;

/** Without prompt-cache marks, which clients move from message to message, and without the data of images and files. */
function trimmed(value: Json): Json {
  if (!needsTrimming(value)) return value;
  if (typeof value === 'string') return `[[${value.length} characters of data]]`;
  if (Array.isArray(value)) return value.map(trimmed);
  // fromEntries, not assignment: a member may be called __proto__.
  return Object.fromEntries(
    Object.entries(asObject(value)).flatMap(([key, member]) =>
      key === CACHE_MARK || member === undefined ? [] : [[key, trimmed(member)]],
    ),
  );
}

const CACHE_MARK = 'cache_control';

function needsTrimming(value: Json): boolean {
  if (typeof value === 'string') return value.length > LONG && isData(value);
  if (Array.isArray(value)) return value.some(needsTrimming);
  if (!isObject(value)) return false;
  for (const key in value) {
    const member = value[key];
    if (key === CACHE_MARK || (member !== undefined && needsTrimming(member))) return true;
  }
  return false;
}

const isData = (text: string): boolean => text.startsWith('data:') || /^[\w+/=-]+$/.test(text.slice(0, 2048));

/** Looks up the parsed block of a name. */
type Blocks = (name: string) => Json | undefined;

/** Reassembles a stored request from its blocks; undefined when one of them is missing. */
export function decodeStoredRequest(name: string, block: Blocks): JsonObject | undefined {
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

/**
 * Follows the chain of base manifests; each contributes what it added, cut to what its successor keeps. It ends early when
 * `most` elements were found, counted from the end.
 */
function readList(
  block: Blocks,
  newest: JsonObject,
  key: string,
  most = Number.POSITIVE_INFINITY,
): readonly Json[] | undefined {
  const pieces: (readonly Json[])[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  let found = 0;
  for (let manifest = newest; ; ) {
    const member = asObject(manifest.lists)[key];
    // In the first format of the record a list is a block of its own, and its base is the block of another list.
    const isNamed = typeof member === 'string';
    const stored = isNamed ? block(member) : member;
    if (stored === undefined && isNamed) return undefined;
    const list = asObject(stored);
    const kept = asNumber(list.keep) ?? 0;
    const piece = asArray(list.add).slice(0, Math.max(0, wanted - kept));
    pieces.unshift(piece);
    found += piece.length;
    wanted = Math.min(wanted, kept);
    if (wanted === 0 || found >= most) return pieces.flat();
    if (isNamed) manifest = { lists: { [key]: asString(list.base) ?? '' } };
    else {
      const base = block(asString(manifest.base) ?? '');
      if (base === undefined) return undefined;
      manifest = asObject(base);
    }
  }
}

/** A part is the name of its block, or inline. */
const readPart = (block: Blocks, part: Json | undefined): Json | undefined =>
  typeof part === 'string' ? block(part) : asObject(part).json;

/** Parsed blocks by name; shared between requests that are based on each other. */
export type BlockCache = Map<string, Json | undefined>;

/** Reads a request from another thread's store. */
export const readRecordedRequest = (
  hash: string,
  records: Pick<Records, 'block'>,
  known: BlockCache,
): Promise<JsonObject | undefined> => withBlocks(records, known, (block) => decodeStoredRequest(hash, block));

/**
 * The last elements of one list of a stored request, without reading the others: a conversation is long, and what is new in
 * it is at its end. `isWhole`: the list has no further ones. Undefined when the request or one of the elements is missing.
 */
export const readLastItems = (
  hash: string,
  records: Pick<Records, 'block'>,
  known: BlockCache,
  { key, most }: { readonly key: string; readonly most: number },
): Promise<{ readonly items: readonly Json[]; readonly isWhole: boolean } | undefined> =>
  withBlocks(records, known, (block) => {
    const manifest = block(hash);
    if (manifest === undefined) return undefined;
    const parts = readList(block, asObject(manifest), key, most + 1);
    const items = parts?.slice(-most).map((part) => readPart(block, part));
    if (parts === undefined || items === undefined || items.includes(undefined)) return undefined;
    return { items: items as readonly Json[], isWhole: parts.length <= most };
  });

/** Repeats a reading, and fetches the blocks that it missed, until none is missing. */
async function withBlocks<T>(
  records: Pick<Records, 'block'>,
  known: BlockCache,
  read: (block: Blocks) => T,
): Promise<T> {
  for (;;) {
    const missing: string[] = [];
    const value = read((name) => {
      if (!known.has(name)) missing.push(name);
      return known.get(name);
    });
    if (missing.length === 0) return value;
    for (const name of missing) known.set(name, parseJson((await records.block(name)) ?? ''));
  }
}
