import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';

/** Records that tell what was appended, once it is on the disk. */
export const withNews = (records: Records, tell: (facts: readonly NewFact[]) => void): Records => ({
  ...records,
  append: async (...args) => {
    const appended = await records.append(...args);
    tell(args[0]);
    return appended;
  },
});
