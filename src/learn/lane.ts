export interface Lane {
  /** Starts the work. While it is under way, it is started once more when it ends. */
  run(failed: (error: unknown) => void): void;
  settled(): Promise<void>;
  readonly isRunning: boolean;
}

/**
 * One piece of work, never twice at a time. Two lanes run beside each other: what must not wait for a model is in another lane
 * than what asks one. `ended` is called when there is nothing more to do.
 */
export function createLane(work: () => Promise<void>, ended: () => void = () => undefined): Lane {
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
        else ended();
      });
  };
  return {
    run,
    settled: async () => {
      while (current !== undefined) await current;
    },
    get isRunning() {
      return current !== undefined;
    },
  };
}
