import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { needPostgres } from '../../support/need-postgres.ts';
import { describeSessionSearch } from './list-sessions-contract.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

describeSessionSearch('PostgreSQL', () => server.freshUrl());
