import { asString, parseJson } from '../core/json.ts';

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
