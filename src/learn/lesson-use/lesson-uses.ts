import type { StoredFact } from '../../core/fact.ts';
import type { Lesson, LessonText, RecordedChange } from '../../core/lesson.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { contradicts } from '../compare-words.ts';
import { coversMatter, isNearMatter, isSameMatter, type Matter, readMatter } from '../distiller/matter.ts';
import { readLesson } from '../distiller/write-lesson.ts';

/** How sessions went that a lesson was shown in, since its text was last changed. */
export interface UseCount {
  readonly id: string;
  /** Sessions that it was shown in, and those of them since the user first said otherwise. */
  readonly shown: number;
  readonly shownSince: number;
  /** Sessions that went well, the newest last; a few of them. */
  readonly well: readonly string[];
  /** Sessions in which the user had to say the same, and said otherwise, the newest last. */
  readonly ignored: readonly string[];
  readonly contradicted: readonly string[];
}

/** Folded from facts: the evidence for and against each lesson, case by case. */
export interface LessonUses {
  add(stored: StoredFact): void;
  of(id: string): UseCount | undefined;
  /** Lessons about which something was said since the last call. */
  takeNews(): readonly string[];
  /** Lessons that did not help in several sessions, with the number of these: for a person. */
  ignored(): readonly { readonly id: string; readonly sessions: number }[];
}

const WELL = 0.5;
const MOST_KEPT = 16;
const MOST_LESSONS = 5000;
const OFTEN = 3;

type Counting = { -readonly [Key in keyof UseCount]: UseCount[Key] };

export function createLessonUses(): LessonUses {
  const counts = new Map<string, Counting>();
  const news = new Set<string>();
  const countOf = (id: string): Counting => {
    const known = counts.get(id) ?? { id, shown: 0, shownSince: 0, well: [], ignored: [], contradicted: [] };
    counts.delete(id);
    counts.set(id, known);
    const [oldest] = counts.keys();
    if (counts.size > MOST_LESSONS && oldest !== undefined) counts.delete(oldest);
    return known;
  };
  const keep = (sessions: readonly string[], session: string): readonly string[] =>
    [...sessions.filter((one) => one !== session), session].slice(-MOST_KEPT);
  const change = (one: RecordedChange): void => {
    if (one.op === 'mark' || one.op === 'expire' || one.op === 'move') return;
    for (const id of one.op === 'merge' ? one.ids : [one.id]) {
      counts.delete(id);
      news.delete(id);
    }
  };
  return {
    add: ({ fact }) => {
      if (fact.type === 'library-changed') for (const one of fact.changes) change(one);
      if (fact.type === 'session-erased')
        for (const one of counts.values()) {
          const others = (sessions: readonly string[]) => sessions.filter((id) => id !== fact.session);
          one.well = others(one.well);
          one.ignored = others(one.ignored);
          one.contradicted = others(one.contradicted);
        }
      if (fact.type !== 'session-scored' || fact.score === undefined) return;
      const { session, score, lessons, ignored = [], contradicted = [] } = fact;
      const isSpoken = (id: string): boolean => ignored.includes(id) || contradicted.includes(id);
      for (const id of new Set(lessons)) {
        const count = countOf(id);
        count.shown++;
        if (contradicted.includes(id)) count.contradicted = keep(count.contradicted, session);
        else if (ignored.includes(id)) count.ignored = keep(count.ignored, session);
        else if (score >= WELL) count.well = keep(count.well, session);
        if (count.contradicted.length > 0) count.shownSince++;
        if (isSpoken(id)) news.add(id);
      }
    },
    of: (id) => counts.get(id),
    takeNews: () => {
      const found = [...news];
      news.clear();
      return found;
    },
    ignored: () =>
      [...counts.values()]
        .filter(({ ignored }) => ignored.length >= OFTEN)
        .map(({ id, ignored }) => ({ id, sessions: ignored.length }))
        .sort((a, b) => b.sessions - a.sessions),
  };
}

/** What people said in a session about the matters of lessons that it was shown: the turns, by lesson. */
interface LessonUse {
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
