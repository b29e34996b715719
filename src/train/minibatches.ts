import { shuffled } from './shuffled.ts';

/**
 * Every item once an epoch, in `count` parts of nearly the same size, in an order of its own. The same seed gives the same
 * parts: a step that is done again is the same step.
 */
export function minibatchesOf<T>(
  items: readonly T[],
  { epochs, count, seed }: { readonly epochs: number; readonly count: number; readonly seed: string },
): readonly (readonly T[])[] {
  const parts = Math.min(count, items.length);
  return Array.from({ length: epochs }, (_, epoch) => {
    const order = parts > 1 ? shuffled(items, `${seed}/epoch-${epoch}`) : items;
    return Array.from({ length: parts }, (_, part) =>
      order.slice(Math.floor((part * order.length) / parts), Math.floor(((part + 1) * order.length) / parts)),
    );
  }).flat();
}
