import type { LessonLife } from '../lessons.ts';
import { count, counted } from '../numbers.ts';
import { columns, cut } from './columns.ts';

const MOST_LESSONS = 30;
const NAME_WIDTH = 40;

/** When each came and what became of it; those that teach a rule before those that do not, and the rest counted. */
export function lessonLines(
  { lessons }: { readonly lessons: readonly LessonLife[] },
  width: number,
  period: 'day' | 'run' = 'day',
): readonly string[] {
  if (lessons.length === 0) return [];
  const shown = [
    ...lessons.filter(({ teaches }) => teaches.length > 0),
    ...lessons.filter(({ teaches }) => teaches.length === 0),
  ];
  const listed = shown.slice(0, MOST_LESSONS);
  return [
    ...columns(
      [
        ['condition', 'seed', 'learned', 'became', 'teaches', 'shown', 'lesson'],
        ...listed.map(({ condition, seed, firstDay, states, teaches, shown: times, name }) => [
          condition,
          String(seed),
          `${period} ${firstDay + 1}`,
          states.at(-1)?.state ?? '',
          teaches.join(' '),
          count(times),
          cut(name, NAME_WIDTH),
        ]),
      ],
      { width, right: [1, 5] },
    ),
    ...(shown.length > listed.length
      ? [`  and ${counted(shown.length - listed.length, 'lesson')} more`]
      : []),
  ];
}
