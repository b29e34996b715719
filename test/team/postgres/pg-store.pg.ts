import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { describeErasing } from '../../record/store/erase-contract.ts';
import { describeStore } from '../../record/store/store-contract.ts';
import { describeVisibility } from '../../record/store/visibility-contract.ts';
import { needPostgres } from '../../support/need-postgres.ts';

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
