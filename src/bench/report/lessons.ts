import { CONDITIONS, type Condition, type LessonSeen, type Row } from '../row.ts';
import { compareText } from './order-rows.ts';

/** One lesson in one run: when it came, what became of it, how often it was shown. */
export interface LessonLife {
  readonly condition: Condition;
  readonly seed: number;
  readonly id: string;
  /** Model text: as it was last called. */
  readonly name: string;
  readonly firstDay: number;
  readonly lastDay: number;
  /** A stretch of days in one state, in order. */
  readonly states: readonly { readonly state: string; readonly from: number; readonly to: number }[];
  /** The rules it ever taught. */
  readonly teaches: readonly string[];
  /** Questions whose prompt held it. */
  readonly shown: number;
}

export function lessonLives(
  seen: readonly LessonSeen[],
  rows: readonly Pick<Row, 'condition' | 'seed' | 'lessons'>[],
): readonly LessonLife[] {
  const shown = new Map<string, number>();
  for (const { condition, seed, lessons } of rows) {
    for (const id of lessons) {
      const key = lessonKey({ condition, seed, id });
      shown.set(key, (shown.get(key) ?? 0) + 1);
    }
  }
  const byLesson = new Map<string, LessonSeen[]>();
  for (const one of [...seen].sort(compareSeen)) {
    const key = lessonKey(one);
    const held = byLesson.get(key);
    // An interrupted day may be written twice: the same evening is one evening.
    if (held === undefined) byLesson.set(key, [one]);
    else if (held.at(-1)?.day === one.day) held[held.length - 1] = one;
    else held.push(one);
  }
  return [...byLesson]
    .flatMap(([key, evenings]) => {
      const first = evenings[0];
      const last = evenings.at(-1);
      if (first === undefined || last === undefined) return [];
      return [
        {
          condition: first.condition,
          seed: first.seed,
          id: first.id,
          name: last.name,
          firstDay: first.day,
          lastDay: last.day,
          states: stretches(evenings),
          teaches: [...new Set(evenings.flatMap(({ teaches }) => teaches))].sort(compareText),
          shown: shown.get(key) ?? 0,
        },
      ];
    })
    .sort(
      (a, b) =>
        CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) ||
        a.seed - b.seed ||
        a.firstDay - b.firstDay ||
        compareText(a.id, b.id),
    );
}

function stretches(evenings: readonly LessonSeen[]): LessonLife['states'] {
  const out: { state: string; from: number; to: number }[] = [];
  for (const { state, day } of evenings) {
    const last = out.at(-1);
    if (last !== undefined && last.state === state) last.to = day;
    else out.push({ state, from: day, to: day });
  }
  return out;
}

const lessonKey = ({ condition, seed, id }: Pick<LessonSeen, 'condition' | 'seed' | 'id'>): string =>
  `${condition}/${seed}/${id}`;

const compareSeen = (a: LessonSeen, b: LessonSeen): number =>
  a.day - b.day ||
  compareText(a.id, b.id) ||
  compareText(a.state, b.state) ||
  compareText(JSON.stringify(a), JSON.stringify(b));
