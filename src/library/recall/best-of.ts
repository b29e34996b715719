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
  const items: number[] = [];
  const scores: number[] = [];
  return {
    get isFull() {
      return items.length === most;
    },
    get bar() {
      return items.length < most ? Number.NEGATIVE_INFINITY : (scores.at(-1) ?? 0);
    },
    offer: (item, score) => {
      let at = items.length;
      while (at > 0 && (scores[at - 1] ?? 0) < score) at--;
      if (at === most) return;
      items.splice(at, 0, item);
      scores.splice(at, 0, score);
      if (items.length > most) {
        items.pop();
        scores.pop();
      }
    },
    items: () => items,
  };
}
