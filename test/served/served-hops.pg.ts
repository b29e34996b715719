import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { createRandom } from '../../src/base/random.ts';
import { asArray, asObject } from '../../src/core/json.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import {
  addSkill,
  askOwner,
  generationAt,
  publishAt,
  sendTurn,
  startTeamGateway,
  type TeamGateway,
} from './team-gateways.ts';

const SOON = { timeout: 60_000, interval: 50 };
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

const startTeam = async (count: number): Promise<readonly TeamGateway[]> => {
  const url = server.freshUrl();
  return Promise.all(Array.from({ length: count }, () => startTeamGateway(url, provider)));
};
const follow = async (gateways: readonly TeamGateway[], generation: number): Promise<void> => {
  for (const gateway of gateways) await expect.poll(() => generationAt(gateway), SOON).toBe(generation);
};

const DEPLOYS = {
  name: 'staging-deploys',
  description: 'When you deploy a service to the staging cluster.',
  content: 'Run the smoke tests after each deploy.',
};
const TASK = 'Deploy the billing service to the staging cluster';

/** The messages that the provider got, without those that the client sent: what was shown, and where. */
const shownIn = (body: string): readonly string[] =>
  asArray(asObject(JSON.parse(body)).messages)
    .map((message) => JSON.stringify(message))
    .filter((message) => message.includes('smoke tests'));

describe('a client that is faster than the commit', () => {
  it.each(['at once 1', 'at once 2', 'at once 3'])(
    'changes its gateway with every request and is shown the same block each time (seed %s)',
    async (seed) => {
      const three = await startTeam(3);
      await publishAt(three[0] as TeamGateway, addSkill(DEPLOYS));
      await follow(three, 1);
      const random = createRandom(seed);
      for (let talk = 0; talk < 6; talk++) {
        const messages: object[] = [{ role: 'user', content: `${TASK} (${seed}, ${talk})` }];
        const blocks = new Set<string>();
        const hops = 2 + random.below(4);
        for (let hop = 0; hop <= hops; hop++) {
          const at = three[random.below(3)] as TeamGateway;
          // Half of the clients do not name their conversation.
          const body = await sendTurn(at, provider, messages, talk % 2 === 0 ? `${seed}-${talk}` : undefined);
          for (const shown of shownIn(body)) blocks.add(shown);
          expect(shownIn(body)).toHaveLength(1);
          messages.push({ role: 'assistant', content: 'Done.' }, { role: 'user', content: `And ${hop}?` });
        }
        expect([...blocks]).toHaveLength(1);
      }
      const { sessions } = await askOwner(three[0] as TeamGateway, 'GET', '/api/page/sessions?limit=20');
      expect(asArray(sessions)).toHaveLength(6);
    },
    400_000,
  );
});

describe('a gateway that is killed', () => {
  it('loses no conversation: it goes on at another gateway with the same block', async () => {
    const [first, second] = (await startTeam(2)) as [TeamGateway, TeamGateway];
    await publishAt(first, addSkill(DEPLOYS));
    await follow([first, second], 1);
    const messages: object[] = [{ role: 'user', content: TASK }];
    const before = await sendTurn(first, provider, messages, 'killed');
    await expect
      .poll(async () => asArray((await askOwner(second, 'GET', '/api/sessions/killed')).turns).length, SOON)
      .toBe(1);
    first.child.kill('SIGKILL');
    await first.exited;
    messages.push({ role: 'assistant', content: 'Done.' }, { role: 'user', content: 'And the other one?' });
    const after = await sendTurn(second, provider, messages, 'killed');
    expect(shownIn(after)).toEqual(shownIn(before));
    await expect
      .poll(async () => asArray((await askOwner(second, 'GET', '/api/sessions/killed')).turns).length, SOON)
      .toBe(2);
  }, 120_000);
});

/** The files below a folder that hold a word. */
function filesWith(dir: string, word: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = path.join(dir, name);
    return statSync(file).isFile() && readFileSync(file).includes(word);
  });
}

describe('an erasure at one gateway', () => {
  it('reaches the lesson, its file and its vectors in the homes of the others', async () => {
    const two = (await startTeam(2)) as [TeamGateway, TeamGateway];
    const [first, second] = two;
    const word = 'quicksilverbridge';
    for (let n = 0; n < 3; n++) {
      await sendTurn(first, provider, [{ role: 'user', content: `${TASK} number ${n}` }], 'private');
      const turns = async (): Promise<readonly unknown[]> =>
        asArray((await askOwner(first, 'GET', '/api/sessions/private')).turns);
      await expect.poll(async () => (await turns()).length, SOON).toBe(n + 1);
      const turn = String(asObject((await turns())[n]).id);
      const note = `Always deploy a service with ${word} after you ran the smoke tests.`;
      await askOwner(first, 'POST', '/v1/feedback', { turn, score: -1, note });
    }
    await follow(two, 1);
    for (const { dir } of two) await expect.poll(() => filesWith(dir, word).length, SOON).toBeGreaterThan(0);
    const shown = await sendTurn(second, provider, [{ role: 'user', content: TASK }], 'another');
    expect(shown).toContain(word);

    const erasure = await askOwner(first, 'DELETE', '/api/sessions/private');
    expect(asArray(asObject(erasure.lessons).retired).length).toBeGreaterThan(0);
    for (const { dir } of two) await expect.poll(() => filesWith(dir, word), SOON).toEqual([]);
    for (const gateway of two)
      expect(await sendTurn(gateway, provider, [{ role: 'user', content: TASK }])).not.toContain(word);
  }, 120_000);
});
