import type { Lesson } from '../../../src/core/lesson.ts';
import type { RecallQuery } from '../../../src/core/recall.ts';
import { lessonText, type ToldText } from '../../support/lesson-text.ts';

type Told = Partial<Omit<Lesson, 'text'> & ToldText>;

/** A live skill with the given fields. */
export function lesson(name: string, told: Told = {}): Lesson {
  const { description = '', content = '', category, scope = {}, note, ...rest } = told;
  return {
    id: name,
    kind: 'skill',
    state: 'live',
    revision: 1,
    pinned: false,
    frozen: false,
    createdAt: 0,
    changedAt: 0,
    ...rest,
    text: lessonText({
      name,
      description,
      content,
      ...(category === undefined ? {} : { category }),
      scope,
      note: { halfLifeDays: 30, ...note },
    }),
  };
}

export const query = (text: string, more: Partial<RecallQuery> = {}): RecallQuery => ({
  text,
  session: 's',
  agent: 'main',
  ...more,
});

/** A small library about several topics. */
export const LESSONS: readonly Lesson[] = [
  lesson('force-push-with-lease', {
    description: 'When a branch whose history was rewritten has to be pushed again.',
    content: 'Use git push --force-with-lease, never --force, and never on main.',
  }),
  lesson('create-index-concurrently', {
    description: 'When adding an index to a large PostgreSQL table in production.',
    content: 'CREATE INDEX CONCURRENTLY outside a transaction; drop invalid leftovers.',
  }),
  lesson('crashloop-read-previous-logs', {
    description: 'When a Kubernetes pod is in CrashLoopBackOff or keeps restarting.',
    content: 'Read kubectl logs --previous first; then probes, limits and config maps.',
  }),
  lesson('meeting-time-with-timezones', {
    description: 'When proposing a meeting time for people in different time zones.',
    content: 'Write the slot in every zone, with the date, and avoid nights.',
  }),
  lesson('csv-encoding', {
    description: 'When a CSV file does not read properly in Python or umlauts are broken.',
    content: 'Look at the bytes, try utf-8-sig and cp1252, set the delimiter.',
  }),
  lesson('invoice-numbers', {
    description: 'When writing invoices for customers.',
    content: 'Number them YYYY-NNNN without gaps; put the tax id and the due date.',
  }),
  lesson('iso-timestamps', {
    description: 'When writing dates or times into JSON, logs or reports.',
    content: 'ISO 8601 with an explicit offset such as 2026-03-01T09:00:00+08:00.',
  }),
];
