import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Lesson, LessonKind, LessonState, LessonText, Note, Scope, Taint } from '../../core/lesson.ts';

/** The content of a SKILL.md. Writing and reading it again gives the same, for all texts. */
export interface SkillFile {
  /** `^[a-z][a-z0-9-]{1,62}$`. */
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category?: string;
  readonly keywords?: readonly string[];
  /** Short ways in which a task that needs it may be worded. */
  readonly triggers?: readonly string[];
  /** Whether it is for every task in its scope. */
  readonly isAlways?: boolean;
  /** The lesson of a file that Instar wrote. Anybody can write these fields: they only say which lesson is meant. */
  readonly origin?: SkillOrigin;
  /** Where an exported lesson comes from. It is read for a lesson that the library does not have; else the library knows better. */
  readonly provenance?: SkillProvenance;
  /** The other fields, verbatim: kept, never evaluated. */
  readonly extra: readonly FrontMatterField[];
}

export interface SkillOrigin {
  readonly id: string;
  readonly revision: number;
  readonly kind: LessonKind;
  readonly state: LessonState;
  readonly scope: Scope;
}

/** The metadata of an exported lesson, and who learned it from which turns; the latter is for people to read. */
export interface SkillProvenance {
  readonly note: Omit<Note, 'keywords' | 'triggers' | 'isAlways'>;
  readonly taint: readonly Taint[];
  readonly learner?: string;
  readonly turns?: readonly string[];
}

/** One field of a front matter: everything after its colon, including continuation lines. */
export interface FrontMatterField {
  readonly key: string;
  readonly raw: string;
}

/** Why a file cannot be read, for the person who wrote it. */
export interface SkillFault {
  readonly ok: false;
  readonly why: string;
}

/** A file that is not used, and why. */
export interface FileFault {
  readonly file: string;
  readonly why: string;
}

/** The text of a field. */
export type ReadField = { readonly ok: true; readonly text: string } | SkillFault;

export const isSkillFault = (value: object): value is SkillFault => 'ok' in value && value.ok === false;

/** The file name that all tools use. */
export const SKILL_FILE = 'SKILL.md';

/** No skill that fits into a prompt comes near it; larger files are not read. */
export const LARGEST_FILE_BYTES = 256 * 1024;

const NAME = /^[a-z][a-z0-9-]{1,62}$/;
const NEAR_NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/;

export const isSkillName = (text: string): boolean => NAME.test(text);

/**
 * A text as a valid name: lower case, each run of spaces, `_`, `.` and `-` as one `-`, none at the end, and `skill-` before
 * a leading digit. Undefined when characters would have to be dropped (`C++` and `C#` would become the same name) or when
 * the text is too long.
 */
export function toSkillName(text: string): string | undefined {
  const plain = text.trim();
  if (isSkillName(plain)) return plain;
  if (!NEAR_NAME.test(plain)) return undefined;
  const joined = plain.toLowerCase().replace(/[ _.-]+/g, '-');
  const slug = joined.endsWith('-') ? joined.slice(0, -1) : joined;
  const name = /^[0-9]/.test(slug) ? `skill-${slug}` : slug;
  return isSkillName(name) ? name : undefined;
}

const TAIL = 8;

/** The folder of a lesson whose name is taken: lessons of different scopes may share a name. */
const secondFolder = ({ id, text }: Lesson): string =>
  `${text.name}--${createHash('sha256').update(id).digest('hex').slice(0, TAIL)}`;

/** A folder for each lesson: its name, with a suffix for all but the first lesson of a name. The widest scope comes first. */
export function assignFolders(lessons: readonly Lesson[]): ReadonlyMap<string, Lesson> {
  const folders = new Map<string, Lesson>();
  const ordered = [...lessons].sort(
    (one, other) => width(one) - width(other) || (one.id < other.id ? -1 : 1),
  );
  for (const lesson of ordered) {
    const { name } = lesson.text;
    folders.set(folders.has(name) ? secondFolder(lesson) : name, lesson);
  }
  return folders;
}

const width = ({ text }: Lesson): number => Object.keys(text.scope).length;

const MAX_KEYWORDS = 32;
const MAX_KEYWORD = 64;
const MAX_TRIGGERS = 16;
const MAX_TRIGGER = 200;
const CATEGORY = /^[a-z][a-z0-9_-]{0,39}$/;
const NEAR_CATEGORY = /^[A-Za-z][A-Za-z0-9 ._-]{0,39}$/;

/** A told skill has a half-life of half a year, unless it proves useful. */
const TOLD: Omit<Note, 'keywords'> = {
  tags: [],
  importance: 0.5,
  confidence: 0.5,
  source: 'told',
  visibility: 'scoped',
  halfLifeDays: 180,
  links: [],
};

/** The fields of a lesson's text that a file contains; the other fields stay unchanged. */
interface FileWords {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string | undefined;
  /** Undefined when the file has no such field. */
  readonly keywords: readonly string[] | undefined;
  readonly triggers: readonly string[] | undefined;
  readonly isAlways: boolean | undefined;
}

/** A file's fields within the limits of a lesson: a description of one line, a category of one word. */
export function fileWords(skill: SkillFile): FileWords {
  const { name, description, content, category, keywords, triggers, isAlways, origin } = skill;
  const lines = content.replaceAll('\r\n', '\n');
  // Files by Instar are taken literally; in others, white space and empty lines are normalised.
  const isForeign = origin === undefined;
  const tidy = (text: string): string => (isForeign || text.includes('\n') ? toLine(text) : text);
  return {
    name,
    description: tidy(description),
    content: isForeign ? withoutEmptyEnds(lines) : lines,
    category: category === undefined ? undefined : toCategory(category),
    keywords: keywords
      ?.map(tidy)
      .filter((word) => word !== '' && word.length <= MAX_KEYWORD)
      .slice(0, MAX_KEYWORDS),
    triggers: triggers
      ?.map(tidy)
      .filter((trigger) => trigger !== '' && trigger.length <= MAX_TRIGGER)
      .slice(0, MAX_TRIGGERS),
    isAlways,
  };
}

const toLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

function withoutEmptyEnds(text: string): string {
  const start = text.length - text.trimStart().length;
  return text.slice(text.lastIndexOf('\n', start - 1) + 1).trimEnd();
}

function toCategory(text: string): string | undefined {
  const plain = text.trim();
  if (CATEGORY.test(plain)) return plain;
  return NEAR_CATEGORY.test(plain) ? plain.toLowerCase().replace(/[ .]/g, '-') : undefined;
}

/** Whether a file and a lesson's text are the same skill. */
export function isSameSkill(skill: SkillFile, text: LessonText): boolean {
  const { name, description, content, category, keywords, triggers, isAlways } = fileWords(skill);
  const { note } = text;
  return (
    name === text.name &&
    toLine(description) === toLine(text.description) &&
    withoutEmptyEnds(content) === withoutEmptyEnds(text.content) &&
    category === text.category &&
    (keywords === undefined || isDeepStrictEqual(keywords, note.keywords)) &&
    (triggers === undefined || isDeepStrictEqual(triggers, note.triggers ?? [])) &&
    (isAlways === undefined || isAlways === (note.isAlways === true)) &&
    isSameScope(skill, text)
  );
}

/** A file without a scope matches any. */
export const isSameScope = ({ origin }: SkillFile, { scope }: LessonText): boolean =>
  origin === undefined || isDeepStrictEqual(origin.scope, scope);

/** The text of a lesson from a file's fields and, for an existing lesson, its previous text. */
export function lessonTextOf(
  words: FileWords,
  skill: SkillFile,
  learner: string,
  base?: LessonText,
): LessonText {
  const { name, description, content, category } = words;
  return {
    name,
    description,
    content,
    ...(category !== undefined && { category }),
    scope: skill.origin?.scope ?? base?.scope ?? {},
    note: noteOf(words, skill.provenance, base?.note),
    evidence: { turns: [], quotes: [], learner },
    taint: (base === undefined ? skill.provenance?.taint : undefined) ?? [],
  };
}

/** What the file does not say stays as it was. A lesson that the library has is told by whoever edits its file. */
function noteOf(
  { keywords, triggers, isAlways }: FileWords,
  provenance: SkillProvenance | undefined,
  base: Note | undefined,
): Note {
  const {
    triggers: before,
    isAlways: wasAlways,
    ...rest
  }: Note = base === undefined
    ? { ...(provenance?.note ?? TOLD), keywords: [] }
    : { ...base, source: 'told' };
  const cues = triggers ?? before ?? [];
  return {
    ...rest,
    keywords: keywords ?? rest.keywords,
    ...(cues.length > 0 && { triggers: cues }),
    ...((isAlways ?? wasAlways === true) && { isAlways: true as const }),
  };
}

/** A lesson as a file for another library or program, with its provenance. */
export function toExportedFile(lesson: Lesson): SkillFile {
  const { note, evidence, taint } = lesson.text;
  const { keywords: _keywords, triggers: _triggers, isAlways: _isAlways, ...rest } = note;
  return {
    ...toSkillFile(lesson, []),
    provenance: { note: rest, taint, learner: evidence.learner, turns: evidence.turns },
  };
}

/** A lesson as a file, with the fields of other tools. */
export function toSkillFile(lesson: Lesson, extra: readonly FrontMatterField[]): SkillFile {
  const { id, revision, kind, state } = lesson;
  const { name, description, content, category, note, scope } = lesson.text;
  return {
    name,
    description,
    content,
    ...(category !== undefined && { category }),
    keywords: note.keywords,
    ...(note.triggers !== undefined && { triggers: note.triggers }),
    ...(note.isAlways === true && { isAlways: true }),
    origin: { id, revision, kind, state, scope },
    extra,
  };
}
