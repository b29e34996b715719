import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileQuestion, Question } from '../../bench/suite.ts';
import { HOUSE_RULES } from '../../bench/workdays/rules/house-rules.ts';
import type { RuleSet } from '../../bench/workdays/rules/rule-set.ts';
import { createWorkdays } from '../../bench/workdays/workdays.ts';
import type { Split } from '../../bench/workdays/world.ts';

/** Something to attempt as often as one likes: it begins the same each time, and its outcome can be checked. */
export interface WorkTask {
  readonly kind: 'work';
  readonly id: string;
  readonly system: string;
  readonly question: Question;
  /** What the workspace begins with. */
  readonly files: Readonly<Record<string, string>>;
}

export interface WorkTaskOptions {
  readonly split: Split;
  readonly seed: number;
  readonly count: number;
  readonly rules?: RuleSet;
  /** Rules that count: those of the first so many days, in every task; all of them unless given. */
  readonly since?: number;
}

/** Tasks of the suite `workdays` in its short form, from one world after another. */
export const makeWorkTasks = (options: WorkTaskOptions): readonly WorkTask[] => [...worldsOf(options)].flat();

/** The same, for whoever should be heard in between: a world takes half a second. Fewer when the signal aborts. */
export async function gatherWorkTasks(
  options: WorkTaskOptions,
  signal: AbortSignal,
): Promise<readonly WorkTask[]> {
  const tasks: WorkTask[] = [];
  for (const world of worldsOf(options)) {
    tasks.push(...world);
    await nextTurn();
    if (signal.aborted) break;
  }
  return tasks;
}

function* worldsOf(options: WorkTaskOptions): Generator<readonly WorkTask[]> {
  const { split, seed, count, rules: all = HOUSE_RULES, since = Number.POSITIVE_INFINITY } = options;
  const counting = all.rules.filter((rule) => rule.since <= since);
  const rules: RuleSet = { name: all.name, rules: counting.map((rule) => ({ ...rule, since: 0 })) };
  for (let world = seed, left = count; left > 0; world++) {
    const { days } = createWorkdays({ seed: world, split, form: 'short', rules });
    const tasks = days.flatMap(({ system, questions, files }) =>
      questions.flatMap((question): readonly WorkTask[] => {
        if (question.kind !== 'files') return [];
        const id = `workdays/${split}/${world}/${question.id}`;
        const own = 'texts' in files ? filesOf(question, files.texts) : {};
        return [{ kind: 'work', id, system, question, files: own }];
      }),
    );
    yield tasks.slice(0, left);
    left -= tasks.length;
  }
}

/** Of the day's files those that the task names: nothing else is touched by it or looked at. */
const filesOf = (
  { text }: FileQuestion,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).filter(([file]) => text.includes(file)));
