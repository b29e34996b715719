export interface Lane {
  /** Starts the work. While it is under way, it is started once more when it ends. */
  run(failed: (error: unknown) => void): void;
  settled(): Promise<void>;
}

/**
 * One piece of work, never twice at a time. Two lanes run beside each other: what must not wait for a model is in another lane
 * than what asks one.
 */
export function createLane(work: () => Promise<void>): Lane {
  let current: Promise<void> | undefined;
  let isAgain = false;
  const run: Lane['run'] = (failed) => {
    if (current !== undefined) {
      isAgain = true;
      return;
    }
    current = work()
      .catch(failed)
      .finally(() => {
        current = undefined;
        const again = isAgain;
        isAgain = false;
        if (again) run(failed);
      });
  };
  return {
    run,
    settled: async () => {
      while (current !== undefined) await current;
    },
  };
}
