import { isObject, type Json, parseJson } from '../../core/json.ts';
import { createRecent } from '../../core/recent.ts';
import type { Block } from '../../core/store.ts';
import { cutBody } from '../../wire/parts.ts';
import type { Span } from '../../wire/scan.ts';
import { textHash } from './text-hash.ts';

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

/** A part of a request as it stands in the manifest. */
interface Kept {
  readonly span: Span;
  /** Of the text that is kept. */
  readonly hash: string;
  /** As JSON. */
  readonly part: string;
}

/** The session's request before, which the next one usually extends. */
interface Last {
  readonly hash: string;
  /** Its own bytes: what a request came in is used again for another. */
  readonly body: Buffer;
  readonly lists: ReadonlyMap<string, readonly Kept[]>;
  readonly depth: number;
}

const MOST_BLOCKS = 20_000;
const MOST_SESSIONS = 128;
const MOST_USES = 5_000;
/** What is shorter stands in the manifest. */
const SHORT = 1_024;
/** Reading a list must not walk back through a whole life. */
const DEEPEST = 200;

/**
 * Cuts a request into blocks that are stored once under the hash of their text: of a long conversation only the new
 * messages are written. What was seen before is recognised by its raw bytes and neither parsed nor redacted again.
 */
export function createRequestKeeper(redact: (value: Json) => Json): RequestKeeper {
  const stored = createRecent<string, string>(MOST_BLOCKS);
  const usedBy = createRecent<string, Set<string>>(MOST_SESSIONS);
  const lastOf = createRecent<string, Last>(MOST_SESSIONS);
  const usesOf = (session: string): Set<string> => {
    const known = usedBy.get(session);
    if (known !== undefined && known.size < MOST_USES) return known;
    const used = new Set<string>();
    usedBy.set(session, used);
    return used;
  };

  return {
    keep: (session, wire, body) => {
      const parts = cutBody(body);
      if (parts === undefined) return undefined;
      const blocks: Block[] = [];
      const used = usesOf(session);
      const last = lastOf.get(session);
      const use = (hash: string, text?: string): string => {
        if (used.has(hash)) return hash;
        used.add(hash);
        blocks.push(text === undefined ? { hash, session } : { hash, text, session });
        return hash;
      };
      const keepItem = (raw: Buffer, span: Span): Kept => {
        const isShort = raw.length <= SHORT;
        const name = isShort ? '' : textHash(raw);
        const known = isShort ? undefined : stored.get(name);
        if (known !== undefined) return { span, hash: use(known), part: `"${known}"` };
        const text = redactedText(raw.toString('utf8'), redact);
        const hash = textHash(text);
        if (isShort) return { span, hash, part: `{"json":${text}}` };
        stored.set(name, hash);
        return { span, hash: use(hash, text), part: `"${hash}"` };
      };
      const lists = new Map<string, readonly Kept[]>();
      for (const [key, spans] of parts.lists) {
        const before = last?.lists.get(key);
        lists.set(
          key,
          spans.map((span, index) => {
            const same = before?.[index];
            if (last !== undefined && same !== undefined && isSame(last.body, same.span, body, span))
              return { ...same, span };
            return keepItem(body.subarray(span[0], span[1]), span);
          }),
        );
      }
      const rest = keepItem(Buffer.from(parts.rest), [0, 0]);
      const base = last !== undefined && last.depth < DEEPEST ? last : undefined;
      const text = manifestAfter(base, { wire, rest, lists });
      const hash = textHash(text);
      // The very same request again is the very same block, and no link in the chain.
      if (hash !== last?.hash) {
        const depth = base ? base.depth + 1 : 0;
        lastOf.set(session, { hash, body: copyInto(last?.body, body), lists, depth });
      }
      return { hash: use(hash, text), blocks };
    },
    forget: () => {
      stored.clear();
      usedBy.clear();
      lastOf.clear();
    },
  };
}

/** A copy, in the memory of one that is no longer needed when it is large enough: a conversation grows a little each time. */
function copyInto(old: Buffer | undefined, body: Buffer): Buffer {
  const room = old === undefined ? 0 : old.buffer.byteLength;
  const memory =
    old !== undefined && room >= body.length ? old.buffer : new ArrayBuffer(roomFor(body.length));
  const copy = Buffer.from(memory, 0, body.length);
  body.copy(copy);
  return copy;
}

const roomFor = (length: number): number => Math.ceil((length * 1.25) / 4096) * 4096;

const isSame = (a: Buffer, [aStart, aEnd]: Span, b: Buffer, [bStart, bEnd]: Span): boolean =>
  aEnd - aStart === bEnd - bStart && a.compare(b, bStart, bEnd, aStart, aEnd) === 0;

/**
 * How a stored request is put together again, itself a block: `{ wire, rest, base?, lists: { KEY: { keep?, add } } }`. With
 * `base`, a list begins with the first `keep` elements of the same list there. `rest` holds all members that are not
 * lists. A part stands by the name of its block, or itself (`{ json }`) when it is short: a block costs more than a few
 * hundred bytes.
 */
function manifestAfter(
  last: Last | undefined,
  { wire, rest, lists }: { wire: string; rest: Kept; lists: ReadonlyMap<string, readonly Kept[]> },
): string {
  let isBased = false;
  const entries = [...lists].map(([key, items]) => {
    const before = last?.lists.get(key) ?? [];
    let keep = 0;
    while (keep < before.length && keep < items.length && before[keep]?.hash === items[keep]?.hash) keep++;
    if (keep < 2) keep = 0;
    else isBased = true;
    const add = items.slice(keep).map(({ part }) => part);
    return `${JSON.stringify(key)}:{${keep > 0 ? `"keep":${keep},` : ''}"add":[${add.join(',')}]}`;
  });
  const base = isBased && last ? `"base":"${last.hash}",` : '';
  return `{"wire":${JSON.stringify(wire)},"rest":${rest.part},${base}"lists":{${entries.join(',')}}}`;
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
