import type { Fact, StoredFact } from '../../src/core/fact.ts';
import type { JobJournal } from '../../src/schedule/job-journal.ts';

/** A job journal in memory. */
export function createPlainJournal(now: () => number): JobJournal {
  const keys = new Set<string>();
  const found = new Map<string, StoredFact[]>();
  let seq = 0;
  const subjectOf = (fact: Fact): string =>
    fact.type === 'job-checkpointed' ? `run/${fact.run}` : `job/${'job' in fact ? fact.job : ''}`;
  return {
    append: async (fact, key) => {
      if (key === undefined) return true;
      if (keys.has(key)) return false;
      keys.add(key);
      const subject = subjectOf(fact);
      const about = found.get(subject) ?? [];
      about.push({ seq: ++seq, at: now(), fact });
      found.set(subject, about);
      return true;
    },
    ofJob: async (job) => found.get(`job/${job}`) ?? [],
    ofRun: async (run) => found.get(`run/${run}`) ?? [],
  };
}
