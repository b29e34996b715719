/**
 * Works on items, at most `most` at the same time, and yields each result when it is ready, with the place of its item. When one
 * fails, no further item is begun, those that were begun are waited for, and the first error in the order of items is thrown.
 */
export async function* inParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T, index: number) => Promise<R>,
): AsyncGenerator<{ readonly index: number; readonly value: R }, void> {
  const running = new Map<
    number,
    Promise<{ readonly index: number; readonly value?: R; readonly error?: unknown }>
  >();
  const errors = new Map<number, unknown>();
  let next = 0;
  const begin = (): void => {
    while (next < items.length && running.size < Math.max(1, most) && errors.size === 0) {
      const index = next++;
      const item = items[index];
      if (item === undefined) continue;
      running.set(
        index,
        work(item, index).then(
          (value) => ({ index, value }),
          (error: unknown) => ({ index, error }),
        ),
      );
    }
  };
  try {
    for (begin(); running.size > 0; begin()) {
      const done = await Promise.race(running.values());
      running.delete(done.index);
      if ('error' in done) errors.set(done.index, done.error);
      else yield { index: done.index, value: done.value as R };
    }
  } finally {
    // A reader that leaves leaves nothing running behind.
    await Promise.all(running.values());
  }
  const [first] = [...errors].sort(([a], [b]) => a - b);
  if (first !== undefined) throw first[1];
}
