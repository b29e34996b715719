/** Puts numbered requests that arrive in any order into sequence. */
export interface Turns {
  /** The first number that has not ended. */
  readonly next: number;
  /** The highest number seen. */
  readonly highest: number;
  /** The number that others wait for, if it has not arrived. */
  readonly missing: number | undefined;
  startAfter(base: number): void;
  /** The number is used; the request cannot run yet. */
  notice(seq: number): void;
  /** The request can run when it is next. */
  enter(seq: number): void;
  /** The request has ended. */
  pass(seq: number): void;
  /** The next number, if its request has entered. */
  current(): number | undefined;
  stop(): void;
}

/** `onLate` is called with the requests that have waited `gapMs` for a missing number, and must pass them. */
export function createTurns(
  gapMs: number,
  onLate: (late: readonly number[], missing: number) => void,
): Turns {
  const entered = new Set<number>();
  const ended = new Set<number>();
  let next = 1;
  let highest = 0;
  let timer: NodeJS.Timeout | undefined;

  const isStuck = (): boolean => entered.size > 0 && !entered.has(next);
  const watch = (): void => {
    while (ended.delete(next)) next++;
    if (isStuck() && timer === undefined) {
      timer = setTimeout(() => {
        timer = undefined;
        onLate(
          [...entered].sort((a, b) => a - b),
          next,
        );
      }, gapMs);
      timer.unref();
    } else if (!isStuck()) {
      clearTimeout(timer);
      timer = undefined;
    }
  };

  return {
    get next() {
      return next;
    },
    get highest() {
      return highest;
    },
    get missing() {
      return isStuck() ? next : undefined;
    },
    startAfter: (base) => {
      next = base + 1;
      highest = base;
    },
    notice: (seq) => {
      highest = Math.max(highest, seq);
    },
    enter: (seq) => {
      highest = Math.max(highest, seq);
      entered.add(seq);
      watch();
    },
    pass: (seq) => {
      highest = Math.max(highest, seq);
      entered.delete(seq);
      if (seq >= next) ended.add(seq);
      watch();
    },
    current: () => (entered.has(next) ? next : undefined),
    stop: () => clearTimeout(timer),
  };
}
