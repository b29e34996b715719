import { hash as digestOf } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { asString, parseJson } from '../../core/json.ts';

/** Half of a SHA-256 detects damage as well as all of it; it does not protect against forgery. */
const BYTES = 16;

const digest = (head: string, body: string | Uint8Array): Uint8Array => {
  const whole = typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body]);
  return digestOf('sha256', whole, 'buffer').subarray(0, BYTES);
};

export interface FactRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly body: string;
  readonly key: string | null;
}

/** JSON separates the members: no two rows give the same text. */
export const hashFactRow = ({ seq, at, type, body, key }: FactRow): Uint8Array =>
  digest(`${JSON.stringify([seq, at, type, key])}\n`, body);

export interface BlockRow {
  readonly hash: string | Uint8Array;
  readonly codec: number;
  readonly body: Uint8Array;
}

/** Over the stored bytes, so that a check need not decompress them. */
export const hashBlockRow = ({ hash, codec, body }: BlockRow): Uint8Array =>
  digest(
    `${JSON.stringify([typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex'), codec])}\n`,
    body,
  );

export interface BodyRow {
  readonly seq: number;
  readonly codec: number;
  readonly body: Uint8Array;
}

export const hashBodyRow = ({ seq, codec, body }: BodyRow): Uint8Array => digest(`[${seq},${codec}]\n`, body);

/** Whether a row matches its checksum. In a damaged file its columns can have any type. */
export const isSoundFact = (row: FactRow & { readonly hash: unknown }): boolean =>
  typeof row.body === 'string' && isSame(hashFactRow(row), row.hash);

export const isSoundBlock = (row: BlockRow & { readonly sum: unknown }): boolean =>
  row.body instanceof Uint8Array &&
  (typeof row.hash === 'string' || row.hash instanceof Uint8Array) &&
  isSame(hashBlockRow(row), row.sum);

export const isSoundBody = (row: BodyRow & { readonly sum: unknown }): boolean =>
  row.body instanceof Uint8Array && isSame(hashBodyRow(row), row.sum);

/** The checksum of an erased body is all zeros. */
export const isErasedSum = (sum: unknown): boolean =>
  sum instanceof Uint8Array && sum.every((byte) => byte === 0);

const isSame = (hash: Uint8Array, stored: unknown): boolean =>
  stored instanceof Uint8Array && Buffer.compare(hash, stored) === 0;

const PLAIN = 0;
const DEFLATED = 1;
/** Measured on JSON of 2 to 200 KB: as fast as level 1 and 1 to 3 % smaller; level 6 takes twice as long. */
const LEVEL = 2;
/** Below this size compression costs more (at least 30 µs per text) than the page it may save. */
const WORTH_PACKING = 2_048;

interface PackedBody {
  readonly codec: number;
  readonly body: Uint8Array;
}

/** A text as UTF-8, compressed if that makes it smaller and there is time. A lone surrogate becomes U+FFFD, as in a hash of it. */
export function packBody(text: string, isHurried = false): PackedBody {
  const plain = Buffer.from(text, 'utf8');
  if (isHurried || plain.length <= WORTH_PACKING) return { codec: PLAIN, body: plain };
  const packed = deflateRawSync(plain, { level: LEVEL });
  return packed.length < plain.length ? { codec: DEFLATED, body: packed } : { codec: PLAIN, body: plain };
}

/** Undefined for bytes that `packBody` did not write. */
export function unpackBody({ codec, body }: PackedBody): string | undefined {
  if (codec === PLAIN) return Buffer.from(body).toString('utf8');
  if (codec !== DEFLATED) return undefined;
  try {
    return inflateRawSync(body).toString('utf8');
  } catch {
    return undefined;
  }
}

// The binding cuts a text at its first NUL, and UTF-8 has no lone surrogates: two ids could become one. Such ids are
// stored as JSON strings, and so are ids that begin like one.
const NEEDS_QUOTES = /^"|\0|\p{Surrogate}/u;

/** An id as a column value. Different ids give different values. */
export const toColumn = (id: string): string => (NEEDS_QUOTES.test(id) ? JSON.stringify(id) : id);

/** Accepts any type: a damaged file can have anything in a column. */
export const fromColumn = (column: unknown): string =>
  typeof column !== 'string'
    ? String(column)
    : column.startsWith('"')
      ? (asString(parseJson(column)) ?? column)
      : column;

/** A block's hash as a column value: as bytes if it is hex, which halves it; else as text. */
export const toHashColumn = (hash: string): string | Uint8Array =>
  /^(?:[0-9a-f]{2})+$/.test(hash) ? Buffer.from(hash, 'hex') : toColumn(hash);
