/** The top k of a stream of scores, without a full sort. Equal scores keep their order of arrival. */
export interface BestOf {
  /** The score that an item must exceed to be kept. */
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
  // A plain field, not a getter: it is read about 100,000 times for each change.
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
