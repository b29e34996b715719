import type { Pending, TrainingEngine, TrainingModel } from '../../src/core/training.ts';
import type { RunJournal } from '../../train/run-journal.ts';

/** What a process does outside of itself, in order. Whoever is asked before an operation may end the process there. */
export interface Operations {
  readonly names: string[];
  /** Before and after each: a rejection is the end of the process. */
  around<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * A process that dies at its `at`th operation: before it took effect, or after, with nobody there to hear the answer.
 * What is asked of a dead process is not done.
 */
export function createOperations(at: number, when: 'before' | 'after'): Operations {
  const names: string[] = [];
  let isDead = false;
  return {
    names,
    around: async (name, work) => {
      if (isDead) throw new Killed();
      const place = names.push(name) - 1;
      if (place !== at) return work();
      isDead = true;
      if (when === 'after') await work();
      throw new Killed();
    },
  };
}

export const withOperations = (engine: TrainingEngine, { around }: Operations): TrainingEngine => {
  const wrap = (model: TrainingModel): TrainingModel => {
    const pending = <T>(name: string, submit: () => Pending<T>): Pending<T> => ({
      done: around(name, () => submit().done),
    });
    return {
      ...model,
      forwardBackward: (input, signal) =>
        pending('forwardBackward', () => model.forwardBackward(input, signal)),
      optimStep: (adam, signal) => pending('optimStep', () => model.optimStep(adam, signal)),
      saveState: (name) => around('saveState', () => model.saveState(name)),
      saveForSampler: (name) => around('saveForSampler', () => model.saveForSampler(name)),
    };
  };
  return {
    ...engine,
    createModel: async (options) => wrap(await around('createModel', () => engine.createModel(options))),
    openModel: async (path) => wrap(await around('openModel', () => engine.openModel(path))),
    openSampler: (path) => around('openSampler', () => engine.openSampler(path)),
  };
};

export const journalWithOperations = (journal: RunJournal, { around }: Operations): RunJournal => ({
  read: () => around('read', () => journal.read()),
  append: (entry, place) => around(entry.type, () => journal.append(entry, place)),
});
