import { isObject, type Json, parseJson } from '../../core/json.ts';
import { createRecent } from '../../core/recent.ts';
import type { Block } from '../../core/store.ts';
import { cutBody } from '../../wire/parts.ts';
import { textHash } from './text-hash.ts';

/**
 * How a stored request is put together again; itself a block. With `base`, a list begins with the first `keep`
 * elements of the same list there.
 */
export interface Manifest {
  readonly wire: string;
  /** The block with all members that are not lists. */
  readonly rest: string;
  readonly base?: string;
  readonly lists: Readonly<Record<string, { readonly keep?: number; readonly add: readonly string[] }>>;
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

/** The session's request before, which the next one usually extends. */
interface Last {
  readonly hash: string;
  readonly lists: ReadonlyMap<string, readonly string[]>;
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
  const lastOf = createRecent<string, Last>(MOST_SESSIONS);

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
      const lists = new Map<string, readonly string[]>();
      for (const [key, spans] of parts.lists) {
        lists.set(
          key,
          spans.map(([start, end]) => keepItem(body.subarray(start, end))),
        );
      }
      const rest = keepItem(Buffer.from(parts.rest));
      const last = lastOf.get(session);
      const base = last !== undefined && last.depth < DEEPEST ? last : undefined;
      const text = JSON.stringify(manifestAfter(base, { wire, rest, lists }));
      const hash = textHash(text);
      // The very same request again is the very same block, and no link in the chain.
      if (hash !== last?.hash) lastOf.set(session, { hash, lists, depth: base ? base.depth + 1 : 0 });
      return { hash: use(hash, text), blocks };
    },
    forget: () => {
      stored.clear();
      usedBy.clear();
      lastOf.clear();
    },
  };
}

function manifestAfter(
  last: Last | undefined,
  { wire, rest, lists }: { wire: string; rest: string; lists: ReadonlyMap<string, readonly string[]> },
): Manifest {
  let isBased = false;
  const entries = [...lists].map(([key, items]) => {
    const before = last?.lists.get(key) ?? [];
    let keep = 0;
    while (keep < before.length && keep < items.length && before[keep] === items[keep]) keep++;
    if (keep < 2) return [key, { add: items }] as const;
    isBased = true;
    return [key, { keep, add: items.slice(keep) }] as const;
  });
  return { wire, rest, ...(isBased && last ? { base: last.hash } : {}), lists: Object.fromEntries(entries) };
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
