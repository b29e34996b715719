import path from 'node:path';
import type { Json } from '../../../src/core/json.ts';
import type { ChangeSet } from '../../../src/core/lesson.ts';
import type { Attempt, LessonsForTask, MakeAttempt, PracticeTask } from '../../../src/core/practice.ts';
import { runTrials, type TrialEvent, type TrialParts } from '../../../src/learn/trial/trials.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { lessonText, type ToldText } from '../../support/lesson-text.ts';

/** A home with a real SQLite file, a library and tasks; attempts are scripted. */
export async function openTrialWorld(folder: string) {
  let time = 1_800_000_000_000;
  const clock = { now: () => time, monotonic: () => time };
  const store = openSqliteStore({ file: path.join(folder, 'store.db') });
  const records = toRecords(store, clock.now);
  let ids = 0;
  const opened = await openLessons({
    records,
    clock,
    newId: (prefix) => `${prefix}_${++ids}`,
    onFault: (error) => {
      throw error;
    },
  });
  const { library } = opened;
  const kept = new Map<string, Json>();
  const made: string[] = [];
  /** The grade of an attempt; a sentence is a fault of the infrastructure. */
  let grade: (lessons: readonly string[], task: PracticeTask, seed: string) => number | string = () => 1;
  const attempt: MakeAttempt = async ({ id, task, shown, seed }) => {
    made.push(id);
    const graded = grade(shown.lessons, task, seed);
    const outcome: Attempt['outcome'] =
      typeof graded === 'string'
        ? { is: 'infrastructure', why: graded }
        : task.check === undefined && task.reference === undefined
          ? { is: 'ungraded' }
          : { is: 'graded', reward: graded, reasons: [] };
    const used = { calls: 1, tokens: 100, usd: 0, unpriced: 0, ms: 1 };
    const { generation, lessons } = shown;
    return {
      id,
      task: task.id,
      by: 'scripted',
      generation,
      lessons,
      outcome,
      output: String(graded),
      steps: [],
      used,
    };
  };
  const lessonsFor: LessonsForTask = async (_, force) => {
    const shown = library.shown(time).map(({ id }) => id);
    const lessons = [...new Set([...shown, ...(force?.with ?? [])])].filter(
      (id) => force?.without?.includes(id) !== true,
    );
    return { text: lessons.join('\n'), lessons, generation: library.generation };
  };
  const parts: TrialParts = {
    library,
    records,
    attempt,
    lessonsFor,
    gateTasks: async () => tasksOf(6),
    effects: opened.effects,
    journal: {
      read: async (unit) => kept.get(unit),
      write: async (unit, value) => void (kept.has(unit) || kept.set(unit, value)),
    },
    budget: { refusal: () => undefined },
    settings: { repeats: 1, temperature: 0.7, timeoutMs: 1000, pairs: 80 },
    mayPromote: true,
    clock,
  };
  const run = async (
    more: Partial<TrialParts> = {},
    signal = new AbortController().signal,
  ): Promise<readonly TrialEvent[]> => {
    const events: TrialEvent[] = [];
    for await (const event of runTrials({ ...parts, ...more }, signal)) events.push(event);
    return events;
  };
  return {
    ...opened,
    records,
    parts,
    made,
    run,
    pass: (ms: number) => {
      time += ms;
    },
    grades: (next: typeof grade) => {
      grade = next;
    },
    add: (
      id: string,
      more: Partial<ToldText> = {},
      by: ChangeSet['by'] = { kind: 'learner', name: 'practice' },
    ) =>
      library.publish({
        id: `add-${id}`,
        by,
        reason: 'practice',
        changes: [
          {
            op: 'add',
            id,
            kind: 'experience',
            state: 'trial',
            text: lessonText({
              name: id,
              description: `When ${id} matters.`,
              content: `Do ${id}.`,
              note: { source: 'practice' },
              ...more,
            }),
          },
        ],
      }),
    close: () => store.close(),
  };
}

export const tasksOf = (count: number, more: Partial<PracticeTask> = {}): readonly PracticeTask[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `task-${at}`,
    root: `root-${at}`,
    origin: 'curated',
    prompt: `Do number ${at}`,
    domain: 'general',
    reference: 'ok',
    ...more,
  }));
