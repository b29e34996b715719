import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { packCodes, wordCodes } from '../../../src/learn/recollect/encode-message.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { needPostgres } from '../../support/need-postgres.ts';
import { filesWith } from '../../team/postgres/table-files.ts';
import { describeRecollections } from './recollect-contract.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

describeRecollections('PostgreSQL', () => {
  const url = server.freshUrl();
  return () => openPgStore({ url });
});

it('the words and vectors of an erased message are in no file of the tables', async () => {
  const url = server.freshUrl();
  const store = await openPgStore({ url });
  const pool = openPgPool(readPgUrl(url), { most: 1 });
  onTestFinished(() => Promise.all([store.close(), pool.close()]).then(() => undefined));
  const words = packCodes(wordCodes('the crate with the lamps of green glass'));
  const vectors = Buffer.from('a vector of three numbers and more').toString('base64');
  const named = { session: 'said', turn: 't1' } as const;
  await store.append({
    facts: at(10, start(named.turn, named.session), end(named.turn), {
      type: 'message-indexed',
      ...named,
      owner: 'somebody',
      words,
      vectors,
      engine: 'e',
    }),
  });
  await pool.exec('checkpoint');
  for (const kept of [words, vectors]) expect(filesWith(server.dataDir, kept)).not.toEqual([]);
  await store.erase('said', 50, 'asked');
  await pool.exec('checkpoint');
  for (const erased of [words, vectors]) expect(filesWith(server.dataDir, erased)).toEqual([]);
});
