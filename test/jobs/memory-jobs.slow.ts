import { createIds } from '../../src/base/ids.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openJobs } from '../../src/jobs/open-jobs.ts';
import { describeJobs } from './describe-jobs.ts';

describeJobs('the jobs of a home with a file', async (rules) => {
  const jobs = openJobs({
    place: '/nowhere/store.db',
    clock: systemClock,
    newId: createIds(systemClock),
    rules,
  });
  return [jobs, jobs];
});
