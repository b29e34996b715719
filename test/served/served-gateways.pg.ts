import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { createRandom } from '../../src/base/random.ts';
import { asArray } from '../../src/core/json.ts';
import { readPgUrl } from '../../src/record/pg-place.ts';
import { openPgPool } from '../../team/postgres/pg-connection.ts';
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

const TASKS = [
  'Write the meeting dates and times into the table in notes.md',
  'Deploy the billing service to the staging cluster',
  'Rename the column customer_id of the invoices table in the database',
  'Why does the login page test fail on the build server?',
  'Write the dates of the next release into the calendar file',
];
const LESSONS = [
  [
    'date-offsets',
    'When you write dates or times into a table or a file.',
    'Use the offset +02:00 in every time.',
  ],
  [
    'staging-deploys',
    'When you deploy a service to the staging cluster.',
    'Run the smoke tests after each deploy.',
  ],
  [
    'column-renames',
    'When you rename a column of a table in the database.',
    'Write a migration with a view for the old name.',
  ],
  [
    'login-tests',
    'When the login page test fails on the build server.',
    'Clear the session store of the build server first.',
  ],
] as const;

/**
 * Conversations with turns, lessons that are published between them, and steps back. The same for every number of gateways;
 * `pick` chooses the one for the next turn.
 */
async function converse(
  url: string,
  gateways: readonly TeamGateway[],
  seed: string,
  pick: () => number,
): Promise<readonly string[]> {
  const random = createRandom(seed);
  const sent: string[] = [];
  const at = (): TeamGateway => gateways[pick() % gateways.length] as TeamGateway;
  const lessons = LESSONS.map(([name, description, content]) => addSkill({ name, description, content }));
  await publishAt(at(), ...lessons.splice(0, 2));
  const talks = [0, 1, 2, 3].map((n) => ({
    session: n % 2 === 0 ? `talk-${n}` : undefined,
    messages: [] as object[],
  }));
  for (const talk of talks)
    talk.messages.push({
      role: 'user',
      content: `${TASKS[random.below(TASKS.length)]} (${talks.indexOf(talk)})`,
    });
  const pool = openPgPool(readPgUrl(url), { most: 1 });
  onTestFinished(() => pool.close());
  /** How long a gateway waits for the turn of another one is no matter here: on a busy machine it would decide. */
  const recorded = (): Promise<void> =>
    expect
      .poll(async () => (await pool.all<{ n: number }>('select count(end_seq) as n from turns'))[0]?.n, SOON)
      .toBe(sent.length);
  let generation = 1;
  // Whether a lesson is known yet is a matter of time, not of the number of gateways.
  const known = async (): Promise<void> => {
    for (const gateway of gateways) await expect.poll(() => generationAt(gateway), SOON).toBe(generation);
  };
  await known();
  for (let step = 0; step < 14; step++) {
    if (step === 5 || step === 10) {
      await publishAt(at(), ...lessons.splice(0, 1));
      generation++;
      await known();
    }
    const talk = talks[random.below(talks.length)] as (typeof talks)[number];
    sent.push(await sendTurn(at(), provider, talk.messages, talk.session));
    await recorded();
    // The same request again.
    if (random.next() < 0.25) sent.push(await sendTurn(at(), provider, talk.messages, talk.session));
    await recorded();
    talk.messages.push(
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: `${TASKS[random.below(TASKS.length)]} ${step}` },
    );
  }
  return sent;
}

describe('three gateways of one PostgreSQL', () => {
  it.each(['hops 1', 'hops 2', 'hops 3'])(
    'send the bytes of a single gateway when the sessions of a client hop between them at random (seed %s)',
    async (seed) => {
      const url = server.freshUrl();
      const three = await Promise.all([1, 2, 3].map(() => startTeamGateway(url, provider)));
      const other = server.freshUrl();
      const alone = await startTeamGateway(other, provider);
      const random = createRandom(`${seed} gateways`);
      const hopped = await converse(url, three, seed, () => random.below(3));
      const stayed = await converse(other, [alone], seed, () => 0);
      expect(hopped).toEqual(stayed);
      expect(hopped.some((body) => body.includes('smoke tests'))).toBe(true);
      const { sessions } = await askOwner(three[0] as TeamGateway, 'GET', '/api/page/sessions?limit=20');
      expect(asArray(sessions)).toHaveLength(4);
    },
    400_000,
  );
});
