import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { asObject, type JsonObject } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { askOwner, startTeamGateway, type TeamGateway } from './team-gateways.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 200 };
const QUESTION = 'How many corners of the outer box were crushed?';
const TOLD = 'The outer box of the parcel had crushed corners,';

const bin = needPostgres();
let server: PostgresServer;
let provider: Provider;
let prompt = '';
beforeAll(async () => {
  server = await startPostgres(bin, true);
  provider = await startProvider((request, response) => {
    prompt = request.body.toString();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
});
afterAll(async () => {
  await provider.close();
  await server.stop();
});

/** Who speaks, with the key of a client. */
interface Speaker {
  readonly key: string;
  readonly user?: string;
}

let talks = 0;
/** Sends the first message of a session; gives the prompt that the provider got. */
async function send(at: TeamGateway, { key, user }: Speaker, content: string, more = {}): Promise<string> {
  const { status, text } = await ask(at.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }], user }),
    headers: {
      'x-instar-key': key,
      'x-instar-agent': 'helper',
      'x-instar-session': `talk-${++talks}`,
      ...more,
    },
  });
  expect(status, text).toBe(200);
  return prompt;
}

interface Member {
  readonly personKey: string;
  readonly client: Speaker;
}

async function addMember(at: TeamGateway, name: string): Promise<Member> {
  const added = await askOwner(at, 'POST', '/api/members/add', { name, role: 'member' });
  const { key } = await askOwner(at, 'POST', '/api/members/key', { name, client: 'laptop' });
  return { personKey: String(added.key), client: { key: String(key) } };
}

const asMember = async (at: TeamGateway, key: string, method: string, path: string, body?: object) =>
  ask(at.port, {
    method,
    path,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** What a member's program finds that looks it up. */
const lookUp = async (at: TeamGateway, key: string): Promise<JsonObject> =>
  asObject(
    JSON.parse(
      (await asMember(at, key, 'POST', '/api/recall', { task: QUESTION, agent: 'helper', isUnhurried: true }))
        .text,
    ),
  );

it('what a member said is quoted to that member at every gateway of the team, and to nobody else, until it is erased', async () => {
  const url = server.freshUrl();
  const [one, other] = [await startTeamGateway(url, provider), await startTeamGateway(url, provider)];
  const [ada, bob] = [await addMember(one, 'ada'), await addMember(one, 'bob')];
  const speakers: Record<string, Speaker> = {
    ada: ada.client,
    bob: bob.client,
    ines: { ...ada.client, user: 'ines' },
    otto: { ...ada.client, user: 'otto' },
    inesOfBob: { ...bob.client, user: 'ines' },
    owner: { key: one.key },
  };
  const wordOf = (who: string): string => `seven${who}corners`;
  const words = Object.keys(speakers).map(wordOf);
  /** The second gateway knows a new member as soon as it has followed the log. */
  await vi.waitFor(async () => expect((await lookUp(other, bob.personKey)).said).toEqual([]), SOON);
  for (const [who, speaker] of Object.entries(speakers))
    await send(one, { ...speaker }, `${TOLD} ${wordOf(who)} of them.`, { 'x-instar-session-done': 'true' });

  const heardAt = async (at: TeamGateway, speaker: Speaker): Promise<readonly string[]> => {
    // The home's own key is a file of each home.
    const key = speaker.key === one.key ? at.key : speaker.key;
    const got = await send(at, { ...speaker, key }, QUESTION);
    return words.filter((word) => got.includes(word));
  };
  for (const at of [one, other])
    for (const [who, speaker] of Object.entries(speakers))
      await vi.waitFor(async () => expect(await heardAt(at, speaker)).toEqual([wordOf(who)]), SOON);
  for (const at of [one, other]) {
    expect(JSON.stringify((await lookUp(at, ada.personKey)).said)).toMatch(/sevenadacorners/);
    expect(JSON.stringify(await lookUp(at, bob.personKey))).not.toMatch(/sevenada|sevenines|sevenotto/);
  }

  const [told] = (await lookUp(other, ada.personKey)).said as readonly JsonObject[];
  const session = encodeURIComponent(String(told?.session));
  // For another member there is no such session.
  const others = await asMember(other, bob.personKey, 'DELETE', `/api/sessions/${session}`);
  expect(JSON.parse(others.text)).toMatchObject({ erased: 0 });
  expect(await heardAt(one, ada.client)).toEqual([wordOf('ada')]);
  const erased = await asMember(other, ada.personKey, 'DELETE', `/api/sessions/${session}`);
  expect(erased.status, erased.text).toBe(200);
  for (const at of [one, other]) {
    expect(await heardAt(at, ada.client)).toEqual([]);
    expect(await heardAt(at, bob.client)).toEqual([wordOf('bob')]);
  }
}, 400_000);
