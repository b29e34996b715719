import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { createIds } from '../../src/base/ids.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openJobs } from '../../src/jobs/open-jobs.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { describeJobs } from './describe-jobs.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

describeJobs('the jobs of a PostgreSQL', async (rules) => {
  const place = server.freshUrl();
  const open = () => openJobs({ place, clock: systemClock, newId: createIds(systemClock), rules });
  return [open(), open()];
});
