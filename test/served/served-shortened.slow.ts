import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const SAID = 'Our demo server is demo-7.';
const AGAIN = 'Before, the user said, word for word';
const LONG = `\n\`\`\`\n${'<td>14</td><td>7.5</td>\n'.repeat(100)}\`\`\`\n`;

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startProvider(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply(url.includes('messages') ? 'anthropic' : 'openai-responses'));
  });
  home = makeHome({
    providers: { fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1` } },
    models: { evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
  // A thread that has just started may answer too late.
  await vi.waitFor(
    async () => {
      const session = newSession();
      await begin(CLAUDE_CODE, session, 'Our mail server is mail-2.');
      const short = CLAUDE_CODE.compacted('Described.', []);
      expect(await CLAUDE_CODE.send(session, short)).toContain('mail-2');
    },
    { timeout: 25_000, interval: 100 },
  );
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

type Message = Readonly<Record<string, unknown>>;

/** How a client writes its requests, and what it makes of a history that became too long. */
interface Client {
  readonly name: string;
  send(
    session: string,
    messages: readonly Message[],
    headers?: Readonly<Record<string, string>>,
  ): Promise<string>;
  user(text: string): Message;
  model(text: string): Message;
  compacted(summary: string, kept: readonly Message[]): readonly Message[];
}

/** Resolves with what the provider got, when the turn can be read in the record. */
async function post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<string> {
  const own = { 'x-instar-key': daemon.key, ...headers };
  const reply = await ask(daemon.port, { path, body: JSON.stringify(body), headers: own });
  const sent = provider.seen.at(-1)?.body.toString() ?? '';
  if (headers['x-instar-record'] === 'off') return sent;
  await vi.waitFor(
    async () => {
      const turn = `/api/turns/${reply.headers['x-instar-turn']}`;
      const asOwner = { authorization: `Bearer ${daemon.ownerKey}` };
      const { text } = await ask(daemon.port, { method: 'GET', path: turn, headers: asOwner });
      expect(JSON.parse(text)).toMatchObject({ status: 'complete' });
    },
    { timeout: 20_000, interval: 10 },
  );
  return sent;
}

/** The first message has the client's reminders; the summary takes its place, with the reminders. */
const REMINDER = {
  type: 'text',
  text: '<system-reminder>\nAs you answer the user, you can use the following context:\n# gitStatus\n</system-reminder>',
};
const contentOf = (first: Message | undefined): readonly unknown[] =>
  Array.isArray(first?.content) ? first.content : [];
const CLAUDE_CODE: Client = {
  name: 'Claude Code',
  send: (session, messages, headers = {}) =>
    post(
      '/v1/messages?beta=true',
      {
        model: 'm-1',
        max_tokens: 9,
        system: [{ type: 'text', text: 'You are a Claude agent.', cache_control: { type: 'ephemeral' } }],
        tools: [{ name: 'Bash', input_schema: { type: 'object' } }],
        messages: [{ role: 'user', content: [REMINDER, ...contentOf(messages[0])] }, ...messages.slice(1)],
      },
      { 'user-agent': 'claude-cli/2.1.325 (external, cli)', 'x-claude-code-session-id': session, ...headers },
    ),
  user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
  model: (text) => ({ role: 'assistant', content: [{ type: 'text', text }] }),
  compacted: (summary) => [
    {
      role: 'user',
      content: [
        {
          type: 'text',
          text: `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nSummary:\n1. ${summary}`,
        },
      ],
    },
  ],
};

/** The context stays; user messages are kept as far as there is room, and the summary is the last of them. */
const message = (role: string, text: string): Message => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});
const CONTEXT = [
  message('developer', '<permissions instructions>read-only</permissions instructions>'),
  message('user', '<environment_context>\n  <cwd>/home/dev/shop</cwd>\n</environment_context>'),
];
const CODEX: Client = {
  name: 'Codex',
  send: (session, messages, headers = {}) =>
    post(
      '/v1/responses',
      { model: 'm-1', tools: [{ type: 'function', name: 'shell' }], input: [...CONTEXT, ...messages] },
      {
        'user-agent': 'codex_cli_rs/0.166.0 (Linux; x86_64)',
        originator: 'codex_cli_rs',
        'session-id': session,
        'thread-id': session,
        ...headers,
      },
    ),
  user: (text) => message('user', text),
  model: (text) => message('assistant', text),
  compacted: (summary, kept) => [
    ...kept,
    message(
      'user',
      `Another language model started to solve this problem and produced a summary of its thinking process. Use it.\n${summary}`,
    ),
  ],
};

let count = 0;
const newSession = (): string => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;

/** A conversation in which something is said, and some work is done. */
const begin = async ({ send, user, model }: Client, session: string, words = SAID, headers = {}) => {
  const first = [user(words)];
  await send(session, first, headers);
  const second = [...first, model('Noted.'), user(`Describe this page: ${LONG}`)];
  const whole = await send(session, second, headers);
  return { second, whole };
};

describe.each([CLAUDE_CODE, CODEX])(
  'what the user of $name said before its history was shortened',
  (client) => {
    const { send, user, model, compacted } = client;

    it('is shown again at the newest message, once, and stays there byte for byte', async () => {
      const session = newSession();
      const { whole } = await begin(client, session);
      expect(whole).not.toContain(AGAIN);
      const short = [...compacted('The page was described.', []), user('Now check the berths of the page.')];
      const sent = await send(session, short);
      expect(sent).toContain(AGAIN);
      expect(sent.split(SAID)).toHaveLength(2);
      expect(sent.indexOf(SAID)).toBeGreaterThan(sent.indexOf('Now check the berths'));
      expect(await send(session, short)).toBe(sent);
      const next = await send(session, [...short, model('Checked.'), user('And the piers?')]);
      expect(next.split(SAID)).toHaveLength(2);
      const upTo = (text: string): string => text.slice(0, text.indexOf(SAID) + SAID.length);
      expect(upTo(next)).toBe(upTo(sent));
    });

    it('is not shown again where the summary, or a message that was kept, has it', async () => {
      const one = newSession();
      await begin(client, one);
      const sent = await send(one, [...compacted(`The user said: "${SAID}"`, []), user('Go on.')]);
      expect(sent).not.toContain(AGAIN);
      const other = newSession();
      await begin(client, other);
      expect(await send(other, [user(SAID), ...compacted('Described.', []), user('Go on.')])).not.toContain(
        AGAIN,
      );
    });

    it('is not shown again when the user took it back, or wanted nothing recorded', async () => {
      const forgotten = newSession();
      const { second } = await begin(client, forgotten);
      await send(forgotten, [...second, model('Done.'), user('Please forget our demo server.')]);
      const short = [...compacted('The page was described.', []), user('Go on.')];
      expect(await send(forgotten, short)).not.toContain('demo-7');
      const silent = newSession();
      const off = { 'x-instar-record': 'off' };
      await begin(client, silent, SAID, off);
      expect(await send(silent, short, off)).not.toContain('demo-7');
    });
  },
);

describe('a conversation', () => {
  const { send, user, model, compacted } = CLAUDE_CODE;

  it('whose user goes back to an earlier message, or begins anew, gets nothing again', async () => {
    const session = newSession();
    const { second } = await begin(CLAUDE_CODE, session, 'Our page has a table.');
    await send(session, [...second, model('Done.'), user('We name branches after birds.')]);
    expect(await send(session, [...second.slice(0, 2), user('Describe the piers.')])).not.toContain(AGAIN);
    expect(await send(session, [user('Describe the berths.')])).not.toContain(AGAIN);
  });

  it('that loses its first messages without a summary gets their statements again', async () => {
    const session = newSession();
    const { second } = await begin(CLAUDE_CODE, session);
    const third = [...second, model('Done.'), user('And the piers?')];
    await send(session, third);
    const sent = await send(session, [...third.slice(3), model('All.'), user('Thank you, next page.')]);
    expect(sent).toContain(SAID);
  });

  it('has none of the words any more once its session was erased', async () => {
    const session = newSession();
    const said = 'Our print server is print-4.';
    await begin(CLAUDE_CODE, session, said);
    const short = [...compacted('The page was described.', []), user('Go on.')];
    const sent = await send(session, short);
    expect(sent).toContain(AGAIN);
    const next = [...short, model('Fine.'), user('And the piers?')];
    expect((await send(session, next)).split(said)).toHaveLength(2);
    const erased = await runInProcess(['sessions', 'erase', session, '--yes', '--home', home.dir]);
    expect(erased.stderr).toBe('');
    expect(await send(session, [...next, model('Fine.'), user('And the berths?')])).not.toContain('print-4');
  });
});
