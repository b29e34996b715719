import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { openPgStore } from '../../../src/record/postgres/pg-store.ts';
import { needPostgres } from '../../support/need-postgres.ts';
import { describeErasing } from '../store/erase-contract.ts';
import { describeStore } from '../store/store-contract.ts';
import { describeVisibility } from '../store/visibility-contract.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

const open = () => openPgStore({ url: server.freshUrl() });
describeStore('PostgreSQL', open);
describeErasing('PostgreSQL', open);
describeVisibility('PostgreSQL', open);
