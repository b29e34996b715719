import type { LessonKind, LessonState, Scope } from '../../core/lesson.ts';

/** The content of a SKILL.md. Writing and reading it again gives the same, for all texts. */
export interface SkillFile {
  /** `^[a-z][a-z0-9-]{1,62}$`. */
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category?: string;
  readonly keywords?: readonly string[];
  /** The lesson of a file that Instar wrote. Anybody can write these fields: they only say which lesson is meant. */
  readonly origin?: SkillOrigin;
  /** The other fields, verbatim: kept, never evaluated. */
  readonly extra: readonly Field[];
}

export interface SkillOrigin {
  readonly id: string;
  readonly revision: number;
  readonly kind: LessonKind;
  readonly state: LessonState;
  readonly scope: Scope;
}

/** One field of a front matter: everything after its colon, including continuation lines. */
export interface Field {
  readonly key: string;
  readonly raw: string;
}

/** Why a file cannot be read, for the person who wrote it. */
export interface Fault {
  readonly ok: false;
  readonly why: string;
}

export const isFault = (value: object): value is Fault => 'ok' in value && value.ok === false;

/** The file name that all tools use. */
export const SKILL_FILE = 'SKILL.md';

/** No skill that fits into a prompt comes near it; larger files are not read. */
export const LARGEST_FILE_BYTES = 256 * 1024;
