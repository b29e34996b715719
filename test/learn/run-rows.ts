import { systemClock } from '../../src/core/clock.ts';
import type { Library } from '../../src/core/library.ts';
import type { CycleEnd } from '../../src/learn/cycle.ts';
import { createLearningState } from '../../src/learn/learning-state.ts';
import { createRunner, type LearnerRow, type WriteFacts } from '../../src/learn/runner.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Runs rows of decided changes on a library, as the runner of learning does. */
export function runRows(library: Library, write: WriteFacts = async () => undefined) {
  const runner = createRunner({
    library,
    gate: async () => ({ outcome: 'refused', why: ['there is no gate'] }),
    clock: systemClock,
    newId: (prefix) => prefix,
    log: quiet,
    signal: new AbortController().signal,
  });
  const state = createLearningState();
  return (rows: readonly LearnerRow[], isStopped = false): Promise<readonly CycleEnd[]> =>
    runner.run(rows, { state, write, isStopped: () => isStopped });
}
