import type { Report } from './report.ts';

/** The last day that any question or lesson is of; undefined where there is none. */
export function lastDay({ conditions, lessons }: Pick<Report, 'conditions' | 'lessons'>): number | undefined {
  const days = [
    ...conditions.flatMap((condition) => condition.days.map(({ day }) => day)),
    ...lessons.map((lesson) => lesson.lastDay),
  ];
  return days.length === 0 ? undefined : Math.max(...days);
}
