import { asString, parseJson } from '../core/json.ts';

// The binding cuts a text at its first NUL, and UTF-8 has no lone surrogates: two ids could become one. Such ids are
// kept as JSON strings, and so are those that begin like one.
const NEEDS_QUOTES = /^"|\0|\p{Surrogate}/u;

/** An id as it stands in a column. Two different ids are two different columns. */
export const toColumn = (id: string): string => (NEEDS_QUOTES.test(id) ? JSON.stringify(id) : id);

/** A damaged file can have anything in a column; what it means is then nobody's to say. */
export const fromColumn = (column: unknown): string =>
  typeof column !== 'string'
    ? String(column)
    : column.startsWith('"')
      ? (asString(parseJson(column)) ?? column)
      : column;

/** A block's hash as it stands in a column: bytes when it is hex, which halves it; else the text itself. */
export const toHashColumn = (hash: string): string | Uint8Array =>
  /^(?:[0-9a-f]{2})+$/.test(hash) ? Buffer.from(hash, 'hex') : toColumn(hash);
