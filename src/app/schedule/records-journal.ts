import type { Clock } from '../../core/clock.ts';
import type { Records } from '../../core/records.ts';
import type { JobJournal } from '../../schedule/job-journal.ts';

/** What the scheduler did, among everything else that happened. */
export const createRecordsJournal = (records: Records, clock: Clock): JobJournal => ({
  append: async (fact, key) => {
    const at = Math.round(clock.now());
    const [appended] = await records.append([{ at, fact, ...(key === undefined ? {} : { key }) }]);
    return appended?.isNew ?? false;
  },
  ofJob: (job) => records.events(`job/${job}`),
  ofRun: (run) => records.events(`run/${run}`),
});
