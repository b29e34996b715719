import { isDeepStrictEqual } from 'node:util';
import type { Lesson, LessonText, Note } from '../../core/lesson.ts';
import type { Field, SkillFile } from './skill-file.ts';

const MAX_KEYWORDS = 32;
const MAX_KEYWORD = 64;
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
export interface FileWords {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string | undefined;
  /** Undefined when the file has no such field. */
  readonly keywords: readonly string[] | undefined;
}

/** A file's fields within the limits of a lesson: a description of one line, a category of one word. */
export function wordsOf({ name, description, content, category, keywords, origin }: SkillFile): FileWords {
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
  const { name, description, content, category, keywords } = wordsOf(skill);
  return (
    name === text.name &&
    toLine(description) === toLine(text.description) &&
    withoutEmptyEnds(content) === withoutEmptyEnds(text.content) &&
    category === text.category &&
    (keywords === undefined || isDeepStrictEqual(keywords, text.note.keywords)) &&
    isSameScope(skill, text)
  );
}

/** A file without a scope matches any. */
export const isSameScope = ({ origin }: SkillFile, { scope }: LessonText): boolean =>
  origin === undefined || isDeepStrictEqual(origin.scope, scope);

/** The text of a lesson from a file's fields and, for an existing lesson, its previous text. */
export function toldText(words: FileWords, skill: SkillFile, learner: string, base?: LessonText): LessonText {
  const { name, description, content, category, keywords } = words;
  return {
    name,
    description,
    content,
    ...(category !== undefined && { category }),
    scope: skill.origin?.scope ?? base?.scope ?? {},
    note: { ...(base?.note ?? TOLD), keywords: keywords ?? base?.note.keywords ?? [], source: 'told' },
    evidence: { turns: [], quotes: [], learner },
    taint: [],
  };
}

/** A lesson as a file, with the fields of other tools. */
export function toSkillFile(lesson: Lesson, extra: readonly Field[]): SkillFile {
  const { id, revision, kind, state } = lesson;
  const { name, description, content, category, note, scope } = lesson.text;
  return {
    name,
    description,
    content,
    ...(category !== undefined && { category }),
    keywords: note.keywords,
    origin: { id, revision, kind, state, scope },
    extra,
  };
}
