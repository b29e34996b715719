/** Adds up what happens in quick succession, and tells it together. */
interface HeldCount {
  /** Told at once after a pause, otherwise with what follows. */
  add(count: number): void;
  /** Tells what is held now. */
  flush(): void;
  /** What was not told yet. */
  held(): number;
}

/** Tells at most once in `ms`. Its timer does not keep the process alive. */
export function createHeldCount(ms: number, tell: (count: number) => void): HeldCount {
  let held = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (held === 0) return;
    const count = held;
    held = 0;
    // First the pause: whoever is told may add.
    timer = setTimeout(flush, ms);
    timer.unref();
    tell(count);
  };
  return {
    add: (count) => {
      held += count;
      if (timer === undefined) flush();
    },
    flush,
    held: () => held,
  };
}
