/** Keeps the best few of many without sorting them all. Equal scores keep the order in which they came. */
export interface BestOf {
  /** What a score must exceed to be kept. */
  readonly bar: number;
  readonly isFull: boolean;
  offer(item: number, score: number): void;
  /** Best first. */
  items(): readonly number[];
}

export function createBestOf(most: number): BestOf {
  const items = new Int32Array(most);
  const scores = new Float64Array(most);
  let count = 0;
  // A plain field that is written when it changes: it is read a hundred thousand times for each time it does.
  const best = {
    bar: Number.NEGATIVE_INFINITY,
    isFull: false,
    offer: (item: number, score: number): void => {
      if (!(score > best.bar)) return;
      let at = best.isFull ? most - 1 : count++;
      for (; at > 0 && (scores[at - 1] ?? 0) < score; at--) {
        scores[at] = scores[at - 1] ?? 0;
        items[at] = items[at - 1] ?? 0;
      }
      scores[at] = score;
      items[at] = item;
      best.isFull = count === most;
      if (best.isFull) best.bar = scores[most - 1] ?? 0;
    },
    items: () => [...items.subarray(0, count)],
  };
  return best;
}
