const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MISSING = '·';

/** Shares in 0 … 1 as a line of small bars, always on the full scale so that two of them can be compared. */
export const spark = (shares: readonly (number | undefined)[]): string =>
  shares
    .map((share) =>
      share === undefined
        ? MISSING
        : (LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))] ?? MISSING),
    )
    .join('');
