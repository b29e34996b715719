import path from 'node:path';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const PATH = '/v1/chat/completions';
/** A token of a known shape, so that it must not be stored. */
const SECRET = `ghp_${'A1b2C3d4E5f6'.repeat(3)}`;
const WORDS = 'the quarterly numbers';
const good = `{"model":"m","messages":[{"role":"user","content":"${WORDS} ${SECRET}"}]`;

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
/** The next reply of the provider. */
let reply: { type: string; body: Buffer | string; encoding?: string } = { type: '', body: '' };

beforeAll(async () => {
  provider = await startProvider((_request, response) => {
    const encoding = reply.encoding === undefined ? {} : { 'content-encoding': reply.encoding };
    response.writeHead(200, { 'content-type': reply.type, ...encoding });
    response.end(reply.body);
  });
  home = makeHome({ providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } } });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (where: string, method = 'GET'): Promise<string> =>
  (await ask(daemon.port, { method, path: where, headers: { authorization: `Bearer ${daemon.ownerKey}` } }))
    .text;
const trajectory = async (session: string): Promise<JsonObject> =>
  asObject(JSON.parse(await owner(`/api/sessions/${session}/trajectory`)));
async function ended(session: string): Promise<JsonObject> {
  let turn: JsonObject = {};
  await expect
    .poll(async () => {
      turn = asObject(asArray((await trajectory(session)).turns)[0]);
      return turn.status;
    })
    .toBe('complete');
  return turn;
}
const unreadableCount = async (): Promise<number> => {
  const status = asObject(JSON.parse(await owner('/api/status')));
  return Number(asObject(status.recording).unreadable);
};
const send = (session: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  ask(daemon.port, {
    path: PATH,
    body,
    headers: { 'x-instar-session': session, 'x-instar-key': daemon.key, ...headers },
  });
const answered = { type: 'application/json', body: wholeReply('openai-chat') };

describe('requests that cannot be read', () => {
  it.each([
    ['a trailing comma', 'comma', Buffer.from(`${good},}`), 'not-json'],
    [
      'a trailing comma inside a message',
      'inner',
      Buffer.from(good.replace('"}]', '",}],"a":1}')),
      'not-json',
    ],
    ['NaN', 'nan', Buffer.from(`${good},"temperature":NaN}`), 'not-json'],
    ['a byte order mark', 'bom', Buffer.from(`\ufeff${good}}`), 'not-json'],
    ['bytes that are not UTF-8', 'latin', Buffer.from(`${good},"user":"caf\xe9"}`, 'latin1'), 'not-utf8'],
  ])(
    '(8) %s: served, recorded as redacted text, counted (not unrecorded with lost = 0)',
    async (_name, session, body, why) => {
      reply = answered;
      const before = await unreadableCount();
      expect((await send(session, body)).status).toBe(200);
      expect(provider.seen.at(-1)?.body.equals(body)).toBe(true);
      const turn = await ended(session);
      expect(turn.unreadable).toEqual({ request: why });
      const request = asObject(turn.request);
      expect(request).toMatchObject({ unreadable: why, bytes: body.length });
      expect(request.text).toContain(WORDS);
      expect(JSON.stringify(turn)).not.toContain(SECRET);
      expect(await unreadableCount()).toBe(before + 1);
      expect(await owner('/metrics')).toContain(`instar_recording{what="unreadable"} ${before + 1}`);
    },
  );

  it('(8) an encoding that cannot be undone: only the size is recorded, since its bytes cannot be redacted', async () => {
    reply = answered;
    const body = Buffer.from(zlib.gzipSync(`${good}}`));
    expect((await send('opaque', body, { 'content-encoding': 'x-unknown' })).status).toBe(200);
    const turn = await ended('opaque');
    expect(turn.unreadable).toEqual({ request: 'encoding' });
    expect(turn.request).toEqual({ unreadable: 'encoding', bytes: body.length });
  });
});

describe('replies that cannot be read', () => {
  it.each([
    ['a page', 'page', { type: 'text/html', body: `<h1>${WORDS} ${SECRET}</h1>` }, 'not-a-reply', true],
    [
      'half a JSON text',
      'half',
      { type: 'application/json', body: `{"choices":[{"${WORDS}` },
      'not-a-reply',
      true,
    ],
    [
      'an unknown encoding',
      'coded',
      { type: 'application/json', body: 'opaque', encoding: 'x-unknown' },
      'encoding',
      false,
    ],
    ['more than 8 MB', 'long', { type: 'application/json', body: 'x'.repeat(9e6) }, 'too-long', false],
  ])('(8) %s: passed on and flagged', async (_name, session, given, why, isKept) => {
    reply = given;
    const answer = await send(session, `${good}}`);
    expect(answer.body.length).toBe(given.body.length);
    const turn = await ended(session);
    expect(turn.unreadable).toEqual({ reply: why });
    expect(asObject(turn.reply)).toMatchObject({ unreadable: why, bytes: given.body.length });
    expect(asObject(turn.reply).text !== undefined).toBe(isKept);
    if (isKept) expect(asObject(turn.reply).text).toContain(WORDS);
    expect(JSON.stringify(turn)).not.toContain(SECRET);
  });
});

describe('what could not be read', () => {
  it('is shown by `sessions show`, exported, and erased like everything else', async () => {
    reply = answered;
    await send('erasable', `${good},}`);
    await ended('erasable');
    const shown = await runCli(['sessions', 'show', 'erasable', '--home', home.dir]);
    expect(shown.stdout).toContain(
      'the request could not be read (not-json): kept as text, not learned from',
    );
    const exported = await runCli(['export', 'trajectories', '--home', home.dir]);
    const line = exported.stdout.split('\n').find((one) => one.includes('"erasable"')) ?? '';
    expect(line).toContain(WORDS);
    await owner('/api/sessions/erasable', 'DELETE');
    const [turn] = asArray((await trajectory('erasable')).turns);
    expect(asObject(asObject(turn).request).text).toBeUndefined();
    const status = await runCli(['status', '--why', '--home', home.dir]);
    expect(status.stdout).toMatch(/\d+ bodies unreadable/);
  });

  it('is never learned from: no fact is derived from it', async () => {
    reply = { type: 'text/html', body: 'Error: it failed' };
    const failing = JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', content: 'Add the totals.' },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'No, that is wrong. Never do that again.' },
      ],
    });
    await send('unlearned', failing);
    await send('unlearned', `${failing.slice(0, -1)},}`, { 'x-instar-session-done': 'true' });
    reply = answered;
    // Learning follows the record in its order: once this turn is appraised, those before it were looked at.
    await send('learned', failing);
    const { id } = await ended('learned');
    await ask(daemon.port, {
      path: '/v1/feedback',
      body: JSON.stringify({ turn: id, score: -1 }),
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    const appraised = (): readonly string[] => {
      const reader = openSqliteReader(path.join(home.dir, 'instar.sqlite'));
      const facts = reader.factsOf('turn-appraised', 0, 1000);
      reader.close();
      return facts.flatMap(({ fact }) => (fact.type === 'turn-appraised' ? [fact.session] : []));
    };
    await expect.poll(appraised).toContain('learned');
    expect(appraised().filter((session) => session !== 'learned')).toEqual([]);
  });
});
