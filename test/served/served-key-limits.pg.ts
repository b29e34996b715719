import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { ask } from '../support/client.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { askOwner, startTeamGateway, type TeamGateway } from './team-gateways.ts';

const bin = needPostgres();
let server: PostgresServer;
let provider: Provider;
beforeAll(async () => {
  server = await startPostgres(bin, true);
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
});
afterAll(async () => {
  await provider.close();
  await server.stop();
});

/** A key of the first gateway's home is one of the others', too. */
function shareKey([first, ...others]: readonly TeamGateway[], id: unknown): void {
  const fileOf = ({ dir }: TeamGateway) => path.join(dir, 'keys.json');
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  const entry = first && read(fileOf(first)).callers.find((one: { id: unknown }) => one.id === id);
  for (const file of others.map(fileOf)) {
    const keys = read(file);
    writeFileSync(file, JSON.stringify({ ...keys, callers: [...keys.callers, entry] }));
  }
}

it('a flood over three gateways of one database gets what the key may use in a day together (not three times that)', async () => {
  const url = server.freshUrl();
  const gateways: TeamGateway[] = [];
  for (let nth = 0; nth < 3; nth++) gateways.push(await startTeamGateway(url, provider));
  const [first] = gateways as [TeamGateway];
  const made = await askOwner(first, 'POST', '/api/keys', { name: 'app', limits: ['7 requests/day'] });
  shareKey(gateways, made.id);
  const chat = ({ port }: TeamGateway) =>
    ask(port, {
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'Sort the rows' }] }),
      headers: { 'x-instar-key': String(made.key), 'x-instar-agent': 'app' },
    });
  const flood = await Promise.all(gateways.flatMap((one) => Array.from({ length: 15 }, () => chat(one))));
  const answered = flood.filter(({ status }) => status === 200).length;
  expect(flood.filter(({ status }) => status === 429)).toHaveLength(flood.length - answered);
  expect(answered).toBe(7);
  // The day is the database's.
  for (const one of gateways) expect((await chat(one)).status).toBe(429);
});
