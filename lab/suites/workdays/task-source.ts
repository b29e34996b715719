import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runAgent } from '../../../src/agent/agent.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { createPlainAgentShell } from '../../../src/agent/shell.ts';
import { workerModule } from '../../../src/base/worker-thread.ts';
import { asNumber, asObject, asString, compact, type JsonObject } from '../../../src/core/json.ts';
import type {
  AttemptResult,
  OpenTaskSource,
  TaskAttempt,
  TaskSourceRef,
  TrainingTask,
} from '../../../src/core/task-source.ts';
import type { FileQuestion } from '../suite.ts';
import { HOUSE_RULES } from './rules/house-rules.ts';
import { openRules } from './rules/open-rules.ts';
import type { RuleSet } from './rules/rule-set.ts';
import { createWorkdays } from './workdays.ts';
import { SPLITS, type Split } from './world.ts';

/** File tasks of the suite `workdays`, from consecutive worlds. */
interface WorkTaskOptions {
  readonly split: Split;
  /** The first world. */
  readonly seed: number;
  readonly count: number;
  readonly rules?: RuleSet;
  /** Only the rules that count by this day, in every task; all of them by default. */
  readonly since?: number;
  /** One task in two is for measuring, by a hash of its id, the others are for learning; all of them by default. */
  readonly part?: Part;
}

type Part = 'learn' | 'measure';

/** The same as plain data. `rules`: `house` (the default), or another name that `openRules` takes. */
interface WorkTaskChoice extends Omit<WorkTaskOptions, 'rules'> {
  readonly rules?: string;
}

interface WorkdaysTasks {
  readonly train: WorkTaskChoice;
  readonly heldOut: WorkTaskChoice;
}

/** These tasks as a source that a training plan can name. */
export const workdaysTasks = ({ train, heldOut }: WorkdaysTasks): TaskSourceRef => ({
  module: MODULE,
  options: { train: compact({ ...train }), heldOut: compact({ ...heldOut }) },
});

const MODULE = workerModule('./task-source.ts', import.meta.url).href;

export const openTaskSource: OpenTaskSource = async ({ train, heldOut }) => {
  const choices = { train: choiceIn(train, 'train'), heldOut: choiceIn(heldOut, 'heldOut') };
  return {
    train: (signal) => gatherWorkTasks(choices.train, signal),
    heldOut: (signal) => gatherWorkTasks(choices.heldOut, signal),
  };
};

function choiceIn(value: unknown, name: string): WorkTaskOptions {
  const { split, seed, count, rules, since, part }: JsonObject = asObject(value);
  const [first, most, day] = [asNumber(seed), asNumber(count), asNumber(since)];
  const known = SPLITS.find((one) => one === split);
  if (known === undefined || first === undefined || most === undefined)
    throw new Error(`workdays tasks: ${name} needs a split (${SPLITS.join(', ')}), a seed and a count`);
  return {
    split: known,
    seed: first,
    count: most,
    rules: openRules(asString(rules) ?? 'house'),
    ...(day === undefined ? {} : { since: day }),
    ...(part === 'learn' || part === 'measure' ? { part } : {}),
  };
}

export const makeWorkTasks = (options: WorkTaskOptions): readonly TrainingTask[] =>
  [...worldsOf(options)].flat();

/** Like `makeWorkTasks`, but yields to the event loop between worlds, each of which takes half a second. Stops when the signal aborts. */
export async function gatherWorkTasks(
  options: WorkTaskOptions,
  signal: AbortSignal,
): Promise<readonly TrainingTask[]> {
  const tasks: TrainingTask[] = [];
  for (const world of worldsOf(options)) {
    tasks.push(...world);
    await nextTurn();
    if (signal.aborted) break;
  }
  return tasks;
}

function* worldsOf(options: WorkTaskOptions): Generator<readonly TrainingTask[]> {
  const { part } = options;
  for (const world of workQuestions(options))
    yield world
      .filter(({ id }) => part === undefined || part === partOf(id))
      .map(({ id, system, question, files }) => ({
        id,
        recall: { task: question.text },
        open: () => openAttempt(system, question, files),
      }));
}

const partOf = (id: string): Part =>
  hash('sha256', id, 'buffer').readUInt32BE(0) % 2 === 0 ? 'measure' : 'learn';

/** A file task by itself, with the files that it needs. */
interface WorkQuestion {
  readonly id: string;
  readonly system: string;
  readonly question: FileQuestion;
  readonly files: Readonly<Record<string, string>>;
}

/** The same tasks before anything is made of them, one world after the other. */
function* workQuestions(options: WorkTaskOptions): Generator<readonly WorkQuestion[]> {
  const { split, seed, count, rules: all = HOUSE_RULES, since = Number.POSITIVE_INFINITY } = options;
  const counting = all.rules.filter((rule) => rule.since <= since);
  const rules: RuleSet = { name: all.name, rules: counting.map((rule) => ({ ...rule, since: 0 })) };
  for (let world = seed, left = count; left > 0; world++) {
    const { days } = createWorkdays({ seed: world, split, rules });
    const tasks = days.flatMap(({ system, questions, files }) =>
      questions.flatMap((question): readonly WorkQuestion[] => {
        if (question.kind !== 'files') return [];
        const own = 'texts' in files ? filesOf(question, files.texts) : {};
        return [{ id: `workdays/${split}/${world}/${question.id}`, system, question, files: own }];
      }),
    );
    yield tasks.slice(0, left);
    left -= tasks.length;
  }
}

/** The day's files that the task names; neither the task nor its check needs others. */
const filesOf = (
  { text }: FileQuestion,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).filter(([file]) => text.includes(file)));

/** After this many replies a task counts as not done. */
export const MOST_STEPS = 4;

async function openAttempt(
  system: string,
  question: FileQuestion,
  files: Readonly<Record<string, string>>,
): Promise<TaskAttempt> {
  const workspace = await createWorkspace();
  for (const [file, text] of Object.entries(files)) await workspace.write(file, text);
  return {
    run: async ({ speak, session }, signal) => {
      const run = await runAgent({
        speak,
        speaker: { session, agent: 'practice', runKind: 'train' },
        model: 'policy',
        system,
        history: [],
        prompt: question.text,
        shell: createPlainAgentShell(workspace),
        limits: { steps: MOST_STEPS },
        signal,
      });
      if (run.failure !== undefined) return { ok: false, why: run.failure.message };
      if (signal.aborted) return { ok: false, why: 'the attempt was stopped' };
      return gradeWork(question, workspace, signal);
    },
    close: () => workspace.dispose(),
  };
}

/** 0 if the task is not done, otherwise the share of its house rules that were obeyed. */
async function gradeWork(
  question: FileQuestion,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { status, passed, isDone, broken, reasons } = await question.check(workspace, signal);
  if (status === 'failed-to-run')
    return { ok: false, why: `the check did not run: ${reasons.join('; ') || 'no reason was given'}` };
  const kept = 1 - broken.length / Math.max(1, question.rules.length);
  const reward = passed ? 1 : isDone === false ? 0 : kept;
  return { ok: true, reward, isComplete: passed, isDone: isDone ?? passed };
}
