import { createManualClock, type ManualClock } from '../../../src/core/clock.ts';
import type { Change, Lesson, LessonText } from '../../../src/core/lesson.ts';
import type { Store } from '../../../src/core/store.ts';
import { type OpenLessons, openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { lessonText, type ToldText } from '../../support/lesson-text.ts';

export const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

export interface MemoryLibrary extends OpenLessons {
  readonly clock: ManualClock;
  readonly records: ReturnType<typeof toRecords>;
  /** Adds a lesson as a learner, or as a person. */
  add(id: string, text: Partial<ToldText>, more?: AddOptions): Promise<void>;
  change(change: Change, by?: 'person' | 'learner'): Promise<void>;
  lesson(id: string): Lesson;
}

interface AddOptions {
  readonly state?: 'proposed' | 'trial' | 'live';
  readonly kind?: Lesson['kind'];
}

/** A library over a store, with a clock that stands. */
export async function openMemoryLibrary(
  store: Store = createMemoryStore(),
  clock = createManualClock(START),
): Promise<MemoryLibrary> {
  const records = toRecords(store, clock.now);
  let ids = 0;
  const opened = await openLessons({
    records,
    clock,
    newId: (prefix) => `${prefix}_${clock.now()}_${++ids}`,
    onFault: (error) => {
      throw error;
    },
  });
  const { library } = opened;
  const change: MemoryLibrary['change'] = async (one, by = 'learner') => {
    const id = `set_${clock.now()}_${++ids}`;
    const { results } = await library.publish({
      id,
      by: { kind: by, name: by },
      reason: 'a test',
      changes: [one],
    });
    const [result] = results;
    if (result?.status === 'refused') throw new Error(result.why);
  };
  return {
    ...opened,
    clock,
    records,
    change,
    add: (id, text, { state = 'live', kind = 'skill' } = {}) =>
      change({ op: 'add', id, kind, state, text: learned(id, text) }),
    lesson: (id) => {
      const lesson = library.lesson(id);
      if (lesson === undefined) throw new Error(`no lesson ${id}`);
      return lesson;
    },
  };
}

const learned = (id: string, { note, ...text }: Partial<ToldText>): LessonText =>
  lessonText({
    name: `the-${id.replaceAll('_', '-')}`,
    description: `When you work on ${id}.`,
    content: `Do ${id}.`,
    evidence: { turns: [`t_${id}`], quotes: [], learner: 'evolver' },
    ...text,
    note: { source: 'experience', halfLifeDays: 30, visibility: 'shared', ...note },
  });
