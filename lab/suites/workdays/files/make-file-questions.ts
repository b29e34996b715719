import path from 'node:path';
import { createRandom } from '../../../../src/base/random.ts';
import type { FileQuestion, TaskVerdict } from '../../suite.ts';
import { between, shuffled } from '../draw.ts';
import type { HouseRule, RuleSet } from '../rules/rule-set.ts';
import type { DayWorld, Split } from '../world.ts';
import { commandOf, createDraft, stepsOf, type WorkDraft } from './draft.ts';
import { judgeWork, takeSnapshot, tellVerdict } from './judge-work.ts';
import { type Plan, twoDigits } from './plan.ts';
import { FOLDER_WORDS, folderAt, type Scene, type Task } from './scene.ts';
import { SHORT_TASK_KINDS } from './short-tasks.ts';

interface FileQuestionOptions {
  readonly day: DayWorld;
  readonly rules: RuleSet;
  readonly count: number;
  readonly seed: string;
  readonly split: Split;
}

interface FileQuestions {
  readonly questions: readonly PlannedQuestion[];
  /** Their files in the day's initial workspace. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The file tasks of a day. Each has its own folders and files and is judged by them alone. Kinds take turns: every kind comes up before
 * one repeats.
 */
export function makeFileQuestions({ day, rules, count, seed, split }: FileQuestionOptions): FileQuestions {
  const kinds = SHORT_TASK_KINDS.filter((kind) => kind.suits(day));
  const order = shuffled(createRandom(`${seed}/kinds`), kinds);
  const folders = shuffled(
    createRandom(`${seed}/folders`),
    Array.from({ length: Math.max(2 * count, FOLDER_WORDS.length) }, (_, index) => folderAt(index)),
  );
  const tasks = Array.from({ length: count }, (_, index) => {
    const random = createRandom(`${seed}/task/${index}`);
    const scene: Scene = {
      ...{ day, random, split },
      task: `t${twoDigits(day.index + 1)}${twoDigits(index + 1)}`,
      now: { ...day.today, hour: between(random, 10, 17), minute: random.below(60) },
      folders: [folders[2 * index] ?? '', folders[2 * index + 1] ?? ''],
    };
    const kind = order[index % order.length];
    if (kind === undefined) throw new RangeError(`${day.id} has nothing that a task could be made of`);
    return kind.make(scene);
  });
  const active = rules.rules.filter(({ since }) => since <= day.index);
  const questions = tasks.map((task) => makeFileQuestion(task, active, { split, seed }));
  const files = Object.fromEntries(
    tasks.flatMap(({ plan }) => [
      ...Object.entries(plan.given),
      ...plan.edits.map((edit) => [edit.path, edit.before] as const),
    ]),
  );
  return { questions, files };
}

/** A task with its plan. */
export interface PlannedQuestion extends FileQuestion {
  readonly taskKind: string;
  readonly plan: Plan;
  /** Also obeys rules of the day that do not apply to this task: they can change what other rules write. */
  solve(obeyed: ReadonlySet<string>): readonly string[];
  /** Like `solve`, with near misses of one rule: every one that the task allows. */
  slip(
    rule: string,
    obeyed: ReadonlySet<string>,
  ): readonly { readonly name: string; readonly commands: readonly string[] }[];
}

function makeFileQuestion(
  { kind, plan, text }: Task,
  active: readonly HouseRule[],
  { split, seed }: { readonly split: Split; readonly seed: string },
): PlannedQuestion {
  const rules = active.filter((rule) => rule.appliesTo(plan));
  const folders = foldersOf(plan, rules);
  const draftFor = (obeyed: ReadonlySet<string>): WorkDraft =>
    active.reduce((draft, rule) => (obeyed.has(rule.id) ? rule.obey(draft) : draft), createDraft(plan));
  return {
    kind: 'files',
    id: plan.task,
    taskKind: kind,
    plan,
    text,
    rules: rules.map(({ id }) => id),
    check: async (workspace, signal) => {
      try {
        signal.throwIfAborted();
        return judgeWork(plan, rules, await takeSnapshot(workspace, folders));
      } catch (error) {
        return failedToRun(error);
      }
    },
    feedback: (verdict) => tellVerdict(verdict, { plan, rules, split, seed }),
    solve: (obeyed) => commandsOf(draftFor(obeyed)),
    slip: (id, obeyed) => {
      const others = new Set([...obeyed].filter((other) => other !== id));
      const rule = rules.find((one) => one.id === id);
      return (rule?.slips ?? []).flatMap(({ name, make }) => {
        const draft = make(draftFor(others));
        return draft === undefined ? [] : [{ name, commands: commandsOf(draft) }];
      });
    },
  };
}

const commandsOf = (draft: WorkDraft): readonly string[] => [...stepsOf(draft).map(commandOf), 'done'];

/** The folders that a check has to read. */
const foldersOf = (plan: Plan, rules: readonly HouseRule[]): ReadonlySet<string> =>
  new Set([
    ...plan.creates.map(({ folder }) => folder),
    ...plan.edits.map((edit) => path.posix.dirname(edit.path)),
    ...rules.flatMap(({ files }) => (files ?? []).map((file) => path.posix.dirname(file))),
  ]);

const failedToRun = (error: unknown): TaskVerdict => ({
  status: 'failed-to-run',
  passed: false,
  broken: [],
  reasons: [error instanceof Error ? error.message : String(error)],
});
