import type { IdPattern } from '../core/store.ts';

/** An id that Instar made: a prefix, the time in base 36, 16 hexadecimal digits: its number within the millisecond, then chance (see `base/ids`). */
const OWN = /^[a-z]{1,12}_[0-9a-z]{1,9}[0-9a-f]{16}$/;
/** The digits of chance are not printed: the time and the number tell two ids apart for good. */
const NOT_PRINTED = 13;
/** Random from the first digit on. Other versions of UUIDs begin with a time. */
const RANDOM_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_PART = 8;
/** Ids up to this length are printed whole. */
const LONGEST_WHOLE = 16;
const BEGINNING = 6;
const END = 6;
const GAP = '..';

/**
 * The form of an id that people read and type. Every command accepts it in place of the whole id: it is the beginning of
 * the id (`t_mhxk2p9a3f2`, `3f2a9c1b`), or for a client's long id its beginning and its end (`agent:..1b22c9`). It
 * does not depend on what else is stored, so it stays valid.
 */
export function shortId(id: string): string {
  if (OWN.test(id)) return id.slice(0, -NOT_PRINTED);
  if (RANDOM_UUID.test(id)) return id.slice(0, UUID_PART);
  if ([...id].length <= LONGEST_WHOLE) return id;
  return `${id.slice(0, BEGINNING)}${GAP}${id.slice(-END)}`;
}

/** A shorter beginning would match by accident. */
const SHORTEST = 4;

/** Undefined for a word that is too short to be a part of an id. */
export function parseIdPattern(typed: string): IdPattern | undefined {
  // An id may have dots of its own beside the gap.
  const isWhole = typed.length === BEGINNING + GAP.length + END && typed.startsWith(GAP, BEGINNING);
  const gap = isWhole ? BEGINNING : typed.indexOf(GAP);
  const beginning = gap < 0 ? typed : typed.slice(0, gap);
  const end = gap < 0 ? '' : typed.slice(gap + GAP.length);
  return beginning.length < SHORTEST ? undefined : { beginning, end };
}

export const matchesIdPattern = (id: string, { beginning, end }: IdPattern): boolean =>
  id.length >= beginning.length + end.length && id.startsWith(beginning) && id.endsWith(end);

/** Whether a word was probably meant as an id: it is no word of a language. */
export const looksLikeId = (word: string): boolean =>
  /^[a-z]{1,12}_[0-9a-z]{3,}$/i.test(word) ||
  /^(?=.*\d)[0-9a-f]{6,}(?:-[0-9a-f]*)*$/i.test(word) ||
  /^\S{4,}\.\.\S{2,}$/.test(word);

/**
 * Of several ids that a word can mean, the one that is meant: the only one, or the one that all others continue (a client
 * names the conversations of sub-agents after that of their parent). Undefined when it is ambiguous.
 */
export const chooseId = (ids: readonly string[]): string | undefined =>
  ids.find((id) => ids.every((other) => other.startsWith(id)));

/** A word as it is typed in a shell: in quotes where it has characters with a meaning. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
