import type { Lesson, LessonText } from '../../core/lesson.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import {
  contradicts,
  coversMatter,
  isNearMatter,
  isSameMatter,
  type Matter,
  readMatter,
} from '../distiller/matter.ts';
import { readLesson } from '../distiller/write-lesson.ts';

/** What people said in a session about the matters of lessons that it was shown: the turns, by lesson. */
export interface LessonUse {
  /** The user had to say the same all the same. */
  readonly ignored: ReadonlyMap<string, readonly string[]>;
  /** The user said otherwise. */
  readonly contradicted: ReadonlyMap<string, readonly string[]>;
}

/** What a lesson of some words says, statement by statement. */
interface LessonMatter {
  readonly whole: Matter;
  readonly statements: readonly Matter[];
  readonly isQuoting: boolean;
}

const MOST_STATEMENTS = 24;
/** Lines that name what is not to be done, and frames: to reject these is to agree. */
const REJECTED =
  /^\W{0,6}(?:anti-?pattern|wrong|bad|example|not|did not work|this did not work|it went wrong)\b/i;

/** Compares each correction of a session with the lessons that the corrected answer was given with. In doubt it is neither. */
export function readLessonUse(
  turns: readonly AppraisedTurn[],
  lessonOf: (id: string) => Lesson | undefined,
): LessonUse {
  const ignored = new Map<string, string[]>();
  const contradicted = new Map<string, string[]>();
  const read = new Map<string, LessonMatter | undefined>();
  const matterOf = (id: string): LessonMatter | undefined => {
    if (!read.has(id)) {
      const lesson = lessonOf(id);
      read.set(id, lesson && readLessonMatter(lesson.text));
    }
    return read.get(id);
  };
  const note = (map: Map<string, string[]>, id: string, turn: string): void => {
    map.set(id, [...(map.get(id) ?? []), turn]);
  };
  for (const { appraisal, shown = [] } of turns) {
    const said = (appraisal.correction?.quotes ?? []).map(readMatter).filter(({ subjects }) => subjects > 0);
    if (said.length === 0 || appraisal.verdict !== 'failure') continue;
    for (const id of new Set(shown)) {
      const matter = matterOf(id);
      if (matter === undefined) continue;
      if (said.some((one) => isAgainst(one, matter))) note(contradicted, id, appraisal.turn);
      else if (said.some((one) => isAgain(one, matter))) note(ignored, id, appraisal.turn);
    }
  }
  return { ignored, contradicted };
}

function readLessonMatter(text: LessonText): LessonMatter {
  const quoted = text.evidence.learner === 'distiller' ? readLesson(text) : undefined;
  const whole = readMatter(`${text.description}\n${text.content}`);
  if (quoted !== undefined) return { whole, statements: quoted.quotes.map(readMatter), isQuoting: true };
  const lines = [text.description, ...text.content.split('\n')]
    .map((line) => line.replace(/^\s*(?:\d{1,3}[.)]|[-*+>#]{1,4})\s+/, ''))
    .filter((line) => line.trim() !== '' && !REJECTED.test(line));
  return { whole, statements: lines.slice(0, MOST_STATEMENTS).map(readMatter), isQuoting: false };
}

/** Only the words that hold now can be contradicted. */
const isAgainst = (said: Matter, { statements, isQuoting }: LessonMatter): boolean =>
  (isQuoting ? statements.slice(0, 1) : statements).some((one) => contradicts(said, one));

const isAgain = (said: Matter, { whole, statements, isQuoting }: LessonMatter): boolean =>
  statements.some((one) => isSameMatter(one, said) || (isQuoting && isNearMatter(one, said))) ||
  (!isQuoting && coversMatter(whole, said));
