/** Whose turn it is among numbered requests that may come in any order. */
export interface Turns {
  /** The first number that is not over. */
  readonly next: number;
  /** The highest number seen. */
  readonly highest: number;
  /** The number that others wait for, when it has not come. */
  readonly missing: number | undefined;
  startAfter(base: number): void;
  /** It is known that it exists; it cannot be done yet. */
  notice(seq: number): void;
  /** It can be done when its turn comes. */
  enter(seq: number): void;
  /** It was done, or given up: it is over. */
  pass(seq: number): void;
  /** The number whose turn it is, if it is here. */
  current(): number | undefined;
  stop(): void;
}

/** `onLate` hears of those that have waited `gapMs` for a number that never came, and must let them pass. */
export function createTurns(
  gapMs: number,
  onLate: (late: readonly number[], missing: number) => void,
): Turns {
  const here = new Set<number>();
  const over = new Set<number>();
  let next = 1;
  let highest = 0;
  let timer: NodeJS.Timeout | undefined;

  const isStuck = (): boolean => here.size > 0 && !here.has(next);
  const watch = (): void => {
    while (over.delete(next)) next++;
    if (isStuck() && timer === undefined) {
      timer = setTimeout(() => {
        timer = undefined;
        onLate(
          [...here].sort((a, b) => a - b),
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
      here.add(seq);
      watch();
    },
    pass: (seq) => {
      highest = Math.max(highest, seq);
      here.delete(seq);
      if (seq >= next) over.add(seq);
      watch();
    },
    current: () => (here.has(next) ? next : undefined),
    stop: () => clearTimeout(timer),
  };
}
