import { createIds } from '../../src/base/ids.ts';
import { systemClock as clock } from '../../src/core/clock.ts';
import { openJobs } from '../../src/jobs/open-jobs.ts';
import { describeBudgets } from './describe-budgets.ts';

describeBudgets('the budgets of a home with a file', () => {
  const one = openJobs({ place: '/nowhere/store.db', clock, newId: createIds(clock) });
  return { one, again: () => one };
});
