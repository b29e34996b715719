import type { StoredFact } from '../../core/fact.ts';
import type { RecordedChange } from '../../core/lesson.ts';

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
