import type { LessonKind, LessonState, Scope } from '../../core/lesson.ts';

/** What a SKILL.md says. Whatever stands in its texts, writing it and reading it again gives the same. */
export interface SkillFile {
  /** `^[a-z][a-z0-9-]{1,62}$`. */
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category?: string;
  readonly keywords?: readonly string[];
  /** Which lesson it is, when Instar wrote it. A stranger can write this too: it says which lesson is meant, not more. */
  readonly origin?: SkillOrigin;
  /** The other fields, each as it stands in the file: kept, never evaluated. */
  readonly extra: readonly Field[];
}

export interface SkillOrigin {
  readonly id: string;
  readonly revision: number;
  readonly kind: LessonKind;
  readonly state: LessonState;
  readonly scope: Scope;
}

/** One field of a front matter: all that stands behind its colon, further lines included. */
export interface Field {
  readonly key: string;
  readonly raw: string;
}

/** Why something cannot be read, in words for the person who wrote it. */
export interface Fault {
  readonly fault: string;
}

export const isFault = (value: object): value is Fault => 'fault' in value;

/** The name that the skill folders of all tools agree on. */
export const SKILL_FILE = 'SKILL.md';

/** No skill that fits into a prompt comes near it; what is larger is not looked at. */
export const LARGEST_FILE_BYTES = 256 * 1024;
