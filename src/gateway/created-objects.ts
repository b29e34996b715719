import { createHash } from 'node:crypto';
import { createLruMap } from '../base/lru-map.ts';
import type { Clock } from '../core/clock.ts';
import { createdObjectSubject } from '../core/created-object.ts';
import type { Records } from '../core/store.ts';
import {
  DOUBLE_QUOTE,
  eachMember,
  equalsText,
  OPEN_BRACE,
  readString,
  skipSpace,
  skipValue,
} from '../wire/json-scan.ts';
import { inflateBytes } from './read-body.ts';

/** Who created a response or a batch, and at which provider. */
export interface Creation {
  readonly caller: string;
  readonly provider: string;
}

/** Reads a reply as it passes to the client. */
export interface ReplyWatch {
  head(contentType: string, contentEncoding: string | undefined): void;
  chunk(bytes: Buffer): void;
  end(): void;
}

/** What callers created at providers with the owner's key. In the record, so that it outlives the process. */
export interface CreatedObjects {
  /** Rejects with `StoreError` when it is not known here and the record cannot be read. */
  find(id: string): Promise<Creation | undefined>;
  /** Finds the id of what the reply says was created. It is known before the client can read it. */
  watch(creation: Creation): ReplyWatch;
}

export type CreationRecords = Pick<Records, 'append' | 'events'>;

const MOST_KNOWN = 10_000;

/** `onUnrecorded`: a creation is known to this process alone. */
export function createCreatedObjects(
  records: CreationRecords,
  { now }: Pick<Clock, 'now'>,
  onUnrecorded: (error: unknown) => void,
): CreatedObjects {
  const known = createLruMap<string, Creation>(MOST_KNOWN);
  /** Compressed replies whose id is not read yet. */
  const unread = new Set<Promise<void>>();
  const add = (id: string, creation: Creation): void => {
    const object = hashOf(id);
    // The first one counts: no later reply makes somebody else's object one's own.
    if (known.get(object) !== undefined) return;
    known.set(object, creation);
    const fact = { type: 'object-created', object, ...creation } as const;
    records.append([{ at: now(), fact, key: `created:${object}` }], [], true).then(([result]) => {
      if (result?.isNew === false) known.keepOnly((name) => name !== object);
    }, onUnrecorded);
  };
  return {
    find: async (id) => {
      const object = hashOf(id);
      if (known.get(object) === undefined) await Promise.all(unread);
      const here = known.get(object);
      if (here !== undefined) return here;
      const [stored] = await records.events(createdObjectSubject(object));
      if (stored?.fact.type !== 'object-created') return undefined;
      const { caller, provider } = stored.fact;
      known.set(object, { caller, provider });
      return { caller, provider };
    },
    watch: (creation) =>
      createIdReader(
        (id) => add(id, creation),
        (reading) => {
          unread.add(reading);
          void reading.finally(() => unread.delete(reading));
        },
      ),
  };
}

/** The id is a key to what it names, and may look like a secret to the redactor. */
const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex');

/** An object's id comes first in its JSON: what follows is not kept. */
const MOST_PLAIN = 64 * 1024;
const MOST_COMPRESSED = 4 * 1024 * 1024;
const MOST_INFLATED = 64 * 1024 * 1024;

function createIdReader(onId: (id: string) => void, onReading: (reading: Promise<void>) => void): ReplyWatch {
  let kept: Buffer[] | undefined = [];
  let size = 0;
  let isStream = false;
  let encoding: string | undefined;
  const read = (bytes: Buffer): void => {
    const id = isStream ? idInStream(bytes) : idIn(bytes, 0);
    if (id === undefined) return;
    kept = undefined;
    onId(id);
  };
  return {
    head: (contentType, contentEncoding) => {
      isStream = contentType.startsWith('text/event-stream');
      encoding = contentEncoding;
    },
    chunk: (bytes) => {
      if (kept === undefined) return;
      kept.push(bytes);
      size += bytes.length;
      if (encoding === undefined) read(Buffer.concat(kept));
      if (size > (encoding === undefined ? MOST_PLAIN : MOST_COMPRESSED)) kept = undefined;
    },
    end: () => {
      if (kept === undefined || encoding === undefined) return;
      const whole = Buffer.concat(kept);
      kept = undefined;
      onReading(inflateBytes(whole, encoding, MOST_INFLATED).then((plain) => plain && read(plain)));
    },
  };
}

/** The beginning of an object is enough. Only its own member counts: what is inside it are words of the caller and of the model. */
function idIn(bytes: Buffer, from: number): string | undefined {
  const at = memberAt(bytes, from, 'id');
  if (at === undefined || bytes[at] !== DOUBLE_QUOTE) return undefined;
  const end = skipValue(bytes, at);
  return end < 0 ? undefined : readString(bytes, [at, end]);
}

/** The first event has the response as it begins. */
function idInStream(bytes: Buffer): string | undefined {
  const line = /(?:^|\n)data:/.exec(bytes.toString('latin1'));
  const at = line === null ? undefined : memberAt(bytes, line.index + line[0].length, 'response');
  return at === undefined ? undefined : idIn(bytes, at);
}

/** The offset of a member's value; undefined when the bytes that there are do not have it. */
function memberAt(bytes: Buffer, from: number, name: string): number | undefined {
  const start = skipSpace(bytes, from);
  if (bytes[start] !== OPEN_BRACE) return undefined;
  let found: number | undefined;
  eachMember(bytes, start, (key, valueAt) => {
    if (!equalsText(bytes, key, name)) return skipValue(bytes, valueAt);
    found = valueAt;
    return -1;
  });
  return found;
}
