import { isObject, type Json, parseJson } from '../../core/json.ts';
import type { Block } from '../../core/store.ts';
import { cutBody } from '../../wire/parts.ts';
import { createRecent } from './recent.ts';
import { textHash } from './text-hash.ts';

/** How a stored request is put together again; itself a block. */
export interface Manifest {
  readonly wire: string;
  /** The block with all members that are not lists. */
  readonly rest: string;
  /** The blocks with the lists' elements, by the list's key. */
  readonly lists: Readonly<Record<string, string>>;
}

/** A list of blocks; with `base`, the first `keep` of that list and then `add`. */
export interface ListBlock {
  readonly base?: string;
  readonly keep?: number;
  readonly add: readonly string[];
}

export interface RequestKeeper {
  /** The hash of the request's manifest and the blocks the store does not have yet. Undefined if it is not JSON. */
  keep(
    session: string,
    wire: string,
    body: Buffer,
  ): { readonly hash: string; readonly blocks: readonly Block[] } | undefined;
  /** Forget what is in the store: something was taken out of it, or did not get in. */
  forget(): void;
}

interface LastList {
  readonly hash: string;
  readonly items: readonly string[];
  readonly depth: number;
}

const MOST_BLOCKS = 100_000;
const MOST_SESSIONS = 2000;
/** Reading a list must not walk back through a whole life. */
const DEEPEST = 40;

/**
 * Cuts a request into blocks that are stored once under the hash of their text: of a long conversation only the new
 * messages are written. What was seen before is recognised by its raw bytes and neither parsed nor redacted again.
 */
export function createRequestKeeper(redact: (value: Json) => Json): RequestKeeper {
  const stored = createRecent<string, string>(MOST_BLOCKS);
  const usedBy = createRecent<string, Set<string>>(MOST_SESSIONS);
  const lastLists = createRecent<string, LastList>(MOST_SESSIONS);

  return {
    keep: (session, wire, body) => {
      const parts = cutBody(body);
      if (parts === undefined) return undefined;
      const blocks: Block[] = [];
      let used = usedBy.get(session);
      if (used === undefined) {
        used = new Set();
        usedBy.set(session, used);
      }
      const use = (hash: string, text?: string): string => {
        if (used.has(hash)) return hash;
        used.add(hash);
        blocks.push(text === undefined ? { hash, session } : { hash, text, session });
        return hash;
      };
      const keepItem = (raw: Buffer): string => {
        const name = textHash(raw);
        const known = stored.get(name);
        if (known !== undefined) return use(known);
        const text = redactedText(raw.toString('utf8'), redact);
        const hash = textHash(text);
        stored.set(name, hash);
        return use(hash, text);
      };
      const keepList = (key: string, items: readonly string[]): string => {
        const place = `${session}\n${key}`;
        const last = lastLists.get(place);
        const list = listAfter(last, items);
        const text = JSON.stringify(list.block);
        const hash = textHash(text);
        lastLists.set(place, { hash, items, depth: list.depth });
        return use(hash, text);
      };
      const lists: Record<string, string> = {};
      for (const [key, spans] of parts.lists) {
        lists[key] = keepList(
          key,
          spans.map(([start, end]) => keepItem(body.subarray(start, end))),
        );
      }
      const manifest: Manifest = { wire, rest: keepItem(Buffer.from(parts.rest)), lists };
      const text = JSON.stringify(manifest);
      return { hash: use(textHash(text), text), blocks };
    },
    forget: () => {
      stored.clear();
      usedBy.clear();
      lastLists.clear();
    },
  };
}

function listAfter(
  last: LastList | undefined,
  items: readonly string[],
): { readonly block: ListBlock; readonly depth: number } {
  let keep = 0;
  while (last && keep < last.items.length && last.items[keep] === items[keep]) keep++;
  const isWorthIt = last !== undefined && keep > 1 && last.depth < DEEPEST;
  if (!isWorthIt) return { block: { add: items }, depth: 0 };
  // The very same list again is the very same block.
  if (keep === items.length && keep === last.items.length && last.depth === 0)
    return { block: { add: items }, depth: 0 };
  return { block: { base: last.hash, keep, add: items.slice(keep) }, depth: last.depth + 1 };
}

function redactedText(raw: string, redact: (value: Json) => Json): string {
  const value = parseJson(raw);
  return JSON.stringify(redact(value === undefined ? raw : trimmed(value)));
}

const LONG = 16_384;

/** Without prompt-cache marks, which clients move from message to message, and without the bytes of images and files. */
function trimmed(value: Json): Json {
  if (typeof value === 'string')
    return value.length > LONG && isData(value) ? `[[${value.length} characters of data]]` : value;
  if (Array.isArray(value)) return value.map(trimmed);
  if (!isObject(value)) return value;
  // Not by assignment: a member may be called __proto__.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      key === 'cache_control' || member === undefined ? [] : [[key, trimmed(member)]],
    ),
  );
}

const isData = (text: string): boolean => text.startsWith('data:') || /^[\w+/=-]+$/.test(text.slice(0, 2048));
