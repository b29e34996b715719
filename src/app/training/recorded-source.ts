import { hash } from 'node:crypto';
import type { TaskSource, TrainingTask } from '../../core/task-source.ts';
import { TrainingError } from '../../core/training.ts';
import type { RecordedTask } from './recorded-task.ts';
import { mixTasks } from './training-task.ts';

export interface RecordedSourceOptions {
  /** Newest first. */
  readonly gather: () => Promise<readonly RecordedTask[]>;
  /** 0 to 1; undefined when no verifier graded the answer. */
  readonly grade: (task: RecordedTask, answer: string) => Promise<number | undefined>;
  /** Whether the policy can attempt it at all. */
  readonly fits: (task: RecordedTask) => boolean;
}

/** Recorded tasks can also be mixed into another source's: then all of them train. */
export interface RecordedSource extends TaskSource {
  all(): Promise<readonly TrainingTask[]>;
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
      recall: { task: text, agent, domain, ...(project === undefined ? {} : { project }) },
      open: async () => ({
        run: async ({ speak, session }, signal) => {
          const reply = await speak(request, { session, agent, runKind: 'train' }, signal);
          if (reply.failure !== undefined) return { ok: false, why: reply.failure.message };
          if (signal.aborted) return { ok: false, why: 'the attempt was stopped' };
          const reward = await grade(recorded, reply.text);
          if (reward !== undefined) return { ok: true, reward };
          return { ok: false, why: `no verifier graded an answer to ${id}`, isUngraded: true };
        },
        close: async () => undefined,
      }),
    };
  };
  const tasks = async (): Promise<readonly RecordedTask[]> => (await gather()).filter(fits);
  return {
    all: async () => (await tasks()).map(toTask),
    train: async () => {
      const found = await tasks();
      const heldOut = found.filter(isHeldOut).map(toTask);
      const train = found.filter((task) => !isHeldOut(task)).map(toTask);
      // Weights that could not be measured afterwards are not trained.
      if (train.length === 0 || heldOut.length === 0) throw tooFewTasks(train.length, heldOut.length);
      return train;
    },
    heldOut: async () => (await tasks()).filter(isHeldOut).map(toTask),
  };
}

/** A source with the recorded tasks mixed into its own to train on; weights are measured on its held-out tasks alone. */
export const withRecordedTasks = (source: TaskSource, recorded: RecordedSource): TaskSource => ({
  train: async (signal) => mixTasks(await source.train(signal), await recorded.all()),
  heldOut: (signal) => source.heldOut(signal),
});

const isHeldOut = ({ domain, text }: RecordedTask): boolean =>
  hash('sha256', JSON.stringify([domain, text]), 'buffer').readUInt32BE(0) % HELD_OUT === 0;

const NEEDED =
  'Weights are trained on recorded tasks whose answers a verifier can grade: set learn.verifiers (kinds regex, schema and ' +
  'module) in the config. Sessions of the last 30 days count that were answered in words at once; one task in five is held out.';

/** Why a window cannot begin with this many tasks. */
export function tooFewTasks(train: number, heldOut: number): TrainingError {
  const found =
    train + heldOut === 0
      ? 'There are no tasks to train on.'
      : `There are too few tasks: ${train} to train on, and ${heldOut} held out to measure the new weights on.`;
  return new TrainingError('user', `${found} ${NEEDED}`);
}
