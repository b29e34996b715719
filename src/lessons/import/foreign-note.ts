/** The formats that an import reads. `skills`: SKILL.md files. The others hold many notes in one file. */
export const IMPORT_FORMATS = ['skills', 'youtu', 'ace', 'mem0', 'metaclaw', 'markdown'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];
/** The formats of files that hold notes. */
export type NoteFormat = Exclude<ImportFormat, 'skills'>;

/** One note of another program's file, or one rule of a person's file. Its words are those of the file. */
export interface ForeignNote {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly content: string;
  /** The content stands in the file line by line: a fault in it has a line of its own. */
  readonly isVerbatim?: true;
  /** A heading without which the content would say the opposite: it stands before it, as in the file. */
  readonly lead?: string;
  /** A short name that the file gives it. */
  readonly title?: string;
  /** The headings that it stands under, or its kind in the other program. */
  readonly heading?: string;
  /** What else the file says of its origin: a user, a date. */
  readonly origin?: string;
  /** Its id in the other program, where that never means another note. */
  readonly ref?: string;
  readonly tags?: readonly string[];
  /** 0 to 1. */
  readonly importance?: number;
  readonly confidence?: number;
  readonly expiresAt?: number;
  /** Why a person should read it before it is used. */
  readonly doubts?: readonly string[];
}

/** What could not be read, or was left out. */
export interface LineRemark {
  readonly line: number;
  readonly why: string;
}

export interface ForeignNotes {
  readonly notes: readonly ForeignNote[];
  /** What is broken. */
  readonly faults: readonly LineRemark[];
  /** What is whole and no note for this library. */
  readonly leftOut: readonly LineRemark[];
}

/** Reads the notes of a file. Total: a broken part is a fault, and what can be read is read. */
export type ReadNotes = (text: string) => ForeignNotes;

/** More notes of one file are not read. */
export const MOST_NOTES = 2_000;

/** What a heading may do to the lines under it: alone they would say the opposite. */
const NEGATING =
  /\b(?:do(?:es)?\s?n[o'’]?t\w*|don[’']?ts?|not|never|no|avoid\w*|without|anti-?\s?patterns?|forbidden|prohibited|banned|deprecated|wrong|bad|mistakes?|pitfalls?|nicht|nie|niemals|kein\w*|verboten|vermeid\w*|jamais|pas|interdit\w*|éviter|nunca|evitar|proibido|prohibido|mai|vietato|nooit|niet|geen)\b|[❌🚫⛔]|不要|禁止|切勿|避免/iu;

export const isNegating = (heading: string): boolean => NEGATING.test(heading);
