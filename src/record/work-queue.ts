/** Work of which one runs at a time, in order. */
export interface WorkQueue {
  /** Resolves when the work has ended. The work never rejects. */
  add(work: () => Promise<void>): Promise<void>;
  /** Whether the work that runs has been running for too long. */
  isOverdue(): boolean;
  /** Resolves when all of it has ended. */
  settled(): Promise<void>;
}

interface WorkQueueOptions {
  readonly later: (ms: number, run: () => void) => void;
  /** Absent: nothing is ever overdue. */
  readonly patienceMs?: number | undefined;
  /** Called once for each work that runs too long. */
  onOverdue(): void;
  onEnd(): void;
}

export function createWorkQueue({ later, patienceMs, onOverdue, onEnd }: WorkQueueOptions): WorkQueue {
  let last: Promise<void> = Promise.resolve();
  /** Odd while work runs. */
  let step = 0;
  let isOverdue = false;
  const run = async (work: () => Promise<void>): Promise<void> => {
    const mine = ++step;
    if (patienceMs !== undefined)
      later(patienceMs, () => {
        if (step !== mine) return;
        isOverdue = true;
        onOverdue();
      });
    await work();
    step++;
    isOverdue = false;
    onEnd();
  };
  return {
    add: (work) => {
      last = last.then(() => run(work));
      return last;
    },
    isOverdue: () => isOverdue,
    settled: () => last,
  };
}
