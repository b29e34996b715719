import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { ROUTES, wholeReply } from '../support/samples.ts';

const WAIT = { timeout: 20_000, interval: 100 };
const WORDS = 'Use the offset +02:00 in every time.';
const TASK = 'Write the meeting dates and times into the table in notes.md';
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

const wireOf = (url: string): WireName =>
  url.includes('messages') ? 'anthropic' : url.includes('responses') ? 'openai-responses' : 'openai-chat';

beforeAll(async () => {
  provider = await startProvider(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(url.includes('count_tokens') ? '{"input_tokens":7}' : wholeReply(wireOf(url)));
  });
  const baseUrl = `${provider.url}/v1`;
  home = makeHome({
    providers: { fake: { wire: ['openai', 'anthropic'], baseUrl } },
  });
  daemon = await startDaemon(home.dir);
  await publish([
    add('dates', 'date-offsets', 'When you write dates or times into a table or a file.', WORDS),
  ]);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (method: string, where: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse((await ask(daemon.port, { method, path: where, headers, ...text })).text);
};
const publish = (changes: readonly object[]) => owner('POST', '/api/lessons', { changes, reason: 'a test' });

const add = (id: string, name: string, description: string, content: string, state = 'live') => ({
  op: 'add',
  id,
  kind: 'skill',
  state,
  text: lessonText({ name, description, content }),
});

const message = (role: string, content: string) => ({ role, content });
const bodyOf = (wire: WireName, messages: readonly object[]): string => {
  const list = wire === 'openai-responses' ? { input: messages } : { messages };
  return JSON.stringify({ model: 'm-1', ...(wire === 'anthropic' ? { max_tokens: 9 } : {}), ...list });
};
/** The request that the provider got, and the headers of the reply. */
const send = async (wire: WireName, session: string, messages: readonly object[], more: object = {}) => {
  const headers = { 'x-instar-key': daemon.key, 'x-instar-session': session, ...more };
  const { headers: head } = await ask(daemon.port, {
    path: ROUTES[wire],
    body: bodyOf(wire, messages),
    headers,
  });
  return { head, sent: provider.seen.at(-1)?.body.toString() ?? '' };
};

describe.each(WIRE_NAMES)('a conversation over %s', (wire) => {
  it('gets the lessons for its task, with the same bytes on every turn, and names them in a header', async () => {
    const session = `fits-${wire}`;
    const first = [message('user', TASK)];
    const one = await send(wire, session, first);
    expect(one.sent).toContain('## Active Skills');
    expect(one.sent).toContain(WORDS);
    expect(one.head['x-instar-lessons']).toBe('dates');
    const two = await send(wire, session, [
      ...first,
      message('assistant', 'Done.'),
      message('user', 'Thanks!'),
    ]);
    const common = JSON.stringify(first).slice(1, -1);
    const upTo = (text: string) => text.slice(0, text.indexOf(common) + common.length);
    expect(upTo(two.sent)).toBe(upTo(one.sent));
    expect(two.sent.split('## Active Skills')).toHaveLength(2);
  });

  it('gets no lessons when none matches', async () => {
    const body = [message('user', 'hello')];
    const { sent, head } = await send(wire, `hello-${wire}`, body);
    expect(sent).toBe(bodyOf(wire, body));
    expect(head['x-instar-lessons']).toBeUndefined();
  });

  it('gets a later lesson in its newest message and keeps it there, also after a restart', async () => {
    const session = `middle-${wire}`;
    const id = `mid-${wire}`;
    const first = message('user', 'Rename the columns of the spreadsheet of ice cream sales.');
    await send(wire, session, [first]);
    await publish([
      add(
        id,
        `ice-${wire}`,
        'When you rename columns of a spreadsheet of ice cream sales.',
        `Flavour first (${wire}).`,
      ),
    ]);
    const second = [
      first,
      message('assistant', 'Which?'),
      message('user', 'All columns of the ice cream sales.'),
    ];
    const told = await send(wire, session, second);
    expect(told.sent).toContain(`Flavour first (${wire}).`);
    expect(told.sent.indexOf('Flavour first')).toBeGreaterThan(told.sent.indexOf('Which?'));
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    daemon = await startDaemon(home.dir);
    const again = await send(wire, session, second);
    expect(again.sent).toBe(told.sent);
    await publish([{ op: 'retire', id, reason: 'over' }]);
  });
});

describe('the library in the daemon', () => {
  it('gives auxiliary calls no lessons', async () => {
    const body = [message('user', TASK)];
    const { sent } = await send('openai-chat', 'aux', body, {
      'x-turn-type': 'side',
      'x-instar-turn': 'side',
    });
    const side = sent.includes(WORDS);
    const titled = await ask(daemon.port, {
      path: ROUTES.anthropic,
      body: JSON.stringify({
        model: 'm-1',
        max_tokens: 9,
        system: 'Summarize this conversation in a title of fewer than six words.',
        messages: body,
      }),
      headers: {
        'x-instar-key': daemon.key,
        'x-instar-session': 'aux-title',
        'user-agent': 'claude-cli/2.1.325 (external, cli)',
      },
    });
    expect(titled.status).toBe(200);
    expect(side).toBe(true);
  });

  it('counts the tokens of the text that is sent afterwards', async () => {
    const body = bodyOf('anthropic', [message('user', TASK)]);
    const headers = { 'x-instar-key': daemon.key, 'x-instar-session': 'counted' };
    await ask(daemon.port, { path: `${ROUTES.anthropic}/count_tokens`, body, headers });
    const counted = provider.seen.at(-1)?.body.toString();
    expect(counted).toContain(WORDS);
    const { sent } = await send('anthropic', 'counted', [message('user', TASK)]);
    expect(sent).toBe(counted);
  });

  it('explains the lessons of a turn', async () => {
    const { head } = await send('openai-chat', 'why', [message('user', TASK)]);
    const turn = String(head['x-instar-turn']);
    const told = await vi.waitFor(async () => {
      const answer = await owner('GET', `/api/turns/${turn}/why`);
      expect(answer.choices).toHaveLength(1);
      return answer;
    }, WAIT);
    expect(told).toMatchObject({
      shown: [{ id: 'dates', name: 'date-offsets' }],
      choices: [
        {
          why: 'new',
          considered: expect.arrayContaining([expect.objectContaining({ id: 'dates', verdict: 'shown' })]),
        },
      ],
    });
  });

  it('publishes a clean edit of a skill file, back on trial, in a new generation', async () => {
    const before = Number(
      (await owner('GET', '/api/status')).library &&
        ((await owner('GET', '/api/status')).library as JsonObject).generation,
    );
    const file = path.join(home.dir, 'skills', 'date-offsets', 'SKILL.md');
    writeFileSync(
      file,
      `---\nname: date-offsets\ndescription: When you write dates.\n---\n\n${WORDS}\nNever two digits for the year.\n`,
    );
    await vi.waitFor(
      async () =>
        expect(((await owner('GET', '/api/status')).library as JsonObject).generation).toBe(before + 1),
      WAIT,
    );
    const lesson = await owner('GET', '/api/lessons/dates');
    expect(lesson.content).toContain('Never two digits');
    expect((lesson.history as readonly JsonObject[]).slice(-2)).toMatchObject([
      { by: 'skills folder', op: 'revise' },
      { by: 'skills folder', op: 'move', state: 'trial' },
    ]);
  });

  it('refuses an approval of a text that has changed since it was shown', async () => {
    await publish([add('queued', 'queued-skill', 'When something waits.', 'One.', 'proposed')]);
    const { hash } = await owner('GET', '/api/lessons/queued');
    await publish([
      {
        op: 'revise',
        id: 'queued',
        from: 1,
        text: lessonText({ name: 'queued-skill', description: 'When something waits.', content: 'Two.' }),
      },
    ]);
    const approval = { changes: [{ op: 'move', id: 'queued', to: 'trial' }], shown: { queued: hash } };
    const stale = await owner('POST', '/api/lessons', approval);
    expect(stale.results).toMatchObject([{ status: 'refused', why: expect.stringContaining('changed') }]);
    const { hash: fresh } = await owner('GET', '/api/lessons/queued');
    const done = await owner('POST', '/api/lessons', { ...approval, shown: { queued: fresh } });
    expect(done.results).toMatchObject([{ status: 'applied' }]);
  });

  it('allows no change without the key', async () => {
    const { status } = await ask(daemon.port, {
      path: '/api/lessons',
      body: JSON.stringify({ changes: [{ op: 'retire', id: 'dates', reason: 'x' }] }),
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(401);
    expect((await owner('GET', '/api/lessons/dates')).state).toBe('trial');
  });
});
