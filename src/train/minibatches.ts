import { shuffled } from './shuffled.ts';

/**
 * Every item once per epoch, in `count` parts of nearly equal size, shuffled per epoch. The same seed gives the same parts:
 * a repeated step is the same step.
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
