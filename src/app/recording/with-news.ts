import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';

/** The same records, with a listener that is called after each durable append. */
export const withNews = (records: Records, tell: (facts: readonly NewFact[]) => void): Records => ({
  ...records,
  append: async (...args) => {
    const appended = await records.append(...args);
    tell(args[0]);
    return appended;
  },
});
