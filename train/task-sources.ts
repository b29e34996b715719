import { hash } from 'node:crypto';
import { errorMessage } from '../src/core/failure.ts';
import type { OpenTaskSource, TaskSource, TaskSourceRef, TrainingTask } from '../src/core/task-source.ts';
import { type PolicyTemplate, TrainingError } from '../src/core/training.ts';
import { plural } from '../src/text/phrases.ts';
import { isRecordedTask, type RecordedGrade, type RecordedTask } from './recorded-tasks.ts';

/** The rules that grade a recorded task; none: a verifier does. */
export const rulesOfTask = ({ id, form }: Pick<TrainingTask, 'id' | 'form'>): readonly string[] =>
  form === undefined || !isRecordedTask(id) ? [] : form.split(' ');

/** How often a recorded task may occur while each generated one occurs once: there are fewer of them. */
const MOST_TIMES = 4;

/**
 * Generated and recorded tasks together. Recorded ones are repeated, but never make up more than half. Without any, the
 * generated ones are returned as they are.
 */
export function mixTasks(
  generated: readonly TrainingTask[],
  recorded: readonly TrainingTask[],
): readonly TrainingTask[] {
  if (recorded.length === 0) return generated;
  const few = recorded.slice(0, generated.length);
  const times = Math.min(MOST_TIMES, Math.floor(generated.length / few.length) || 1);
  return [...generated, ...Array.from({ length: times }, () => few).flat()];
}

/** Whether the policy is asked at all, and half of its context is left for lessons and a reply. Other tasks teach nothing. */
export function canAttempt(
  { request }: RecordedTask,
  template: PolicyTemplate,
  contextLength: number,
): boolean {
  try {
    const rendered = template.render(request);
    return rendered.is === 'prompt' && rendered.tokens.length <= contextLength / 2;
  } catch {
    // A model's template refuses conversations of a shape it does not know.
    return false;
  }
}

interface RecordedSourceOptions {
  /** Newest first. */
  readonly gather: () => Promise<readonly RecordedTask[]>;
  /** Undefined when neither a verifier nor a rule graded the answer. */
  readonly grade: (task: RecordedTask, answer: string) => Promise<RecordedGrade | undefined>;
  /** Whether the policy can attempt it at all. */
  readonly fits: (task: RecordedTask) => boolean;
}

/** Recorded tasks can also be mixed into another source's: then all of them train. */
interface RecordedSource extends TaskSource {
  all(): Promise<readonly TrainingTask[]>;
  /**
   * What weights that were proposed at `since` were not trained on, newest first: what was asked for the first time after that, and
   * what is held out.
   */
  unseenSince(since: number): Promise<readonly TrainingTask[]>;
}

/** One recorded task in this many is held out. */
const HELD_OUT = 5;

/**
 * The tasks that users gave, from the record. One in five is held out, by a hash of its text: a task that is asked again in
 * another session stays on its side. `train` rejects with a TrainingError when one of the sides is empty.
 */
export function createRecordedSource({ gather, grade, fits }: RecordedSourceOptions): RecordedSource {
  const toTask = (recorded: RecordedTask): TrainingTask => {
    const { id, text, request, agent, project, domain } = recorded;
    return {
      id,
      root: rootOf(recorded).toString('hex', 0, 16),
      ...(recorded.rules.length > 0 && { form: [...recorded.rules].sort().join(' ') }),
      recall: { task: text, agent, domain, ...(project === undefined ? {} : { project }) },
      open: async () => ({
        run: async ({ speak, session }, signal) => {
          const reply = await speak(request, { session, agent, runKind: 'train' }, signal);
          if (reply.failure !== undefined) return { ok: false, why: reply.failure.message };
          if (signal.aborted) return { ok: false, why: 'the attempt was stopped' };
          const graded = await grade(recorded, reply.text);
          if (graded !== undefined) return { ok: true, ...graded, answer: reply.text };
          return { ok: false, why: `nothing graded an answer to ${id}`, isUngraded: true };
        },
        close: async () => undefined,
      }),
    };
  };
  const tasks = async (): Promise<readonly RecordedTask[]> => (await gather()).filter(fits);
  return {
    all: async () => (await tasks()).map(toTask),
    train: async () => {
      const all = await tasks();
      // Weights that could not be measured afterwards are not trained.
      const shortage = findTaskShortage(countTasks(all));
      if (shortage !== undefined) throw shortage;
      return all.filter((task) => !isHeldOut(task)).map(toTask);
    },
    heldOut: async () => (await tasks()).filter(isHeldOut).map(toTask),
    unseenSince: async (since) =>
      (await tasks()).filter((task) => task.firstAt > since || isHeldOut(task)).map(toTask),
  };
}

/** A source with the recorded tasks mixed into its own to train on; weights are measured on its held-out tasks alone. */
export const withRecordedTasks = (source: TaskSource, recorded: RecordedSource): TaskSource => ({
  train: async (signal) => mixTasks(await source.train(signal), await recorded.all()),
  heldOut: (signal) => source.heldOut(signal),
});

/** The same words in another session are the same task. */
const rootOf = ({ domain, text }: RecordedTask): Buffer =>
  hash('sha256', JSON.stringify([domain, text]), 'buffer');

const isHeldOut = (task: RecordedTask): boolean => rootOf(task).readUInt32BE(0) % HELD_OUT === 0;

const NEEDED =
  'Weights are trained on recorded tasks whose answers can be graded: by a rule that you told and that has an accepted check (correct an ' +
  'answer that breaks the rule; see instar lessons list), or by a verifier (learn.verifiers: exact, number, regex, schema or module). ' +
  'Sessions of the last 30 days count that were answered in words at once; one task in five is held out.';

const tooFewTasks = (count: RecordedCount, needed?: number): TrainingError =>
  new TrainingError(
    'user',
    `Too little to train on: ${sayRecordedTasks(count, needed)}. ${NEEDED}`,
    'no-tasks',
  );

/** How many recorded tasks weights would be trained on, and measured on, and how many rules grade answers to them. */
export interface RecordedCount {
  readonly train: number;
  readonly heldOut: number;
  readonly rules: number;
}

export function countTasks(tasks: readonly RecordedTask[]): RecordedCount {
  const heldOut = tasks.filter(isHeldOut).length;
  const rules = new Set(tasks.flatMap((task) => task.rules)).size;
  return { train: tasks.length - heldOut, heldOut, rules };
}

/** The numbers in one sentence, the same wherever they are told. `needed`: held-out tasks to measure new weights on, while there are fewer. */
export function sayRecordedTasks({ train, heldOut, rules }: RecordedCount, needed?: number): string {
  const tasks = plural(train + heldOut, 'task');
  const all = rules === 0 ? tasks : `${tasks}, graded by ${rules} of your rules`;
  const sides = train + heldOut === 0 ? '' : ` (${train} to train on, ${heldOut} held out)`;
  return `${all}${sides}${needed === undefined ? '' : `; about ${needed} must be held out`}`;
}

/** Why a window cannot begin with these recorded tasks; undefined when it can. */
export function findTaskShortage(count: RecordedCount, needed?: number): TrainingError | undefined {
  return count.train === 0 || count.heldOut === 0 ? tooFewTasks(count, needed) : undefined;
}

/** Opens the source that a plan names. Rejects with a TrainingError that names the module. */
export async function loadTaskSource({ module, options }: TaskSourceRef): Promise<TaskSource> {
  const failed = (why: string): TrainingError =>
    new TrainingError('user', `The task source ${module} cannot be used: ${why}`);
  if (!module.startsWith('file:')) throw failed('its module is not a file: URL.');
  try {
    const loaded: { readonly openTaskSource?: OpenTaskSource } = await import(module);
    if (typeof loaded.openTaskSource !== 'function') throw new Error('it exports no openTaskSource.');
    return await loaded.openTaskSource(options);
  } catch (error) {
    throw failed(errorMessage(error));
  }
}
