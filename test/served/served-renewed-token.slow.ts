import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Answer, ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };
const NAMES = path.resolve(import.meta.dirname, '../support/test-names.cjs');
const RULE = 'From now on always answer in British English.';
const TASK = { role: 'user', content: 'Sort the rows of the invoices table by date' };
const CLAUDE = 'claude-cli/2.1.0 (external, cli)';
const CODEX = 'codex_cli_rs/0.60.0';
/** Without tools it is a client's own question, such as for a title. */
const TOOLS = [{ type: 'function', function: { name: 'Read', parameters: { type: 'object' } } }];

/** The tokens that the provider accepts now. */
let valid: ReadonlySet<string> = new Set();
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

const start = (): Promise<RunningDaemon> => startDaemon(home.dir, [], { NODE_OPTIONS: `--require=${NAMES}` });
const stop = async (): Promise<void> => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
};

beforeAll(async () => {
  provider = await startProvider(({ headers }, response) => {
    const token = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const isAccepted = valid.has(token);
    response.writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/json' });
    response.end(isAccepted ? wholeReply('openai-chat') : '{"error":{"message":"invalid token"}}');
  });
  const at = (name: string) => ({ wire: 'openai-chat', baseUrl: `http://${name}.test:${provider.port}/v1` });
  home = makeHome({
    providers: { plan: at('plan'), other: at('other') },
    models: { evolver: 'off', judge: 'off' },
  });
  daemon = await start();
});
afterAll(async () => {
  await stop();
  await provider.close();
  home.remove();
});

interface Words {
  readonly token: string;
  readonly client?: string;
  readonly provider?: string;
  readonly session: string;
  readonly messages?: readonly object[];
  readonly isDone?: boolean;
}

/** A request without a key of Instar's, as a client with a subscription sends it. */
async function send({
  token,
  client = CLAUDE,
  provider: at = 'plan',
  session,
  messages = [TASK],
  isDone = false,
}: Words): Promise<{ readonly answer: Answer; readonly prompt: string }> {
  const answer = await ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: `${at}/m`, messages, tools: TOOLS }),
    headers: {
      authorization: `Bearer ${token}`,
      'user-agent': client,
      'x-instar-session': session,
      ...(isDone ? { 'x-instar-session-done': 'true' } : {}),
    },
  });
  return { answer, prompt: provider.seen.at(-1)?.body.toString() ?? '' };
}
const say = async (words: Words): Promise<string> => {
  const { answer, prompt } = await send(words);
  expect(answer.status, answer.text).toBe(200);
  return prompt;
};
const withRule = (rule: string) => [
  TASK,
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: rule },
];
const rules = async (word: string): Promise<readonly JsonObject[]> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const lessons: readonly JsonObject[] = JSON.parse(
    (await ask(daemon.port, { method: 'GET', path: '/api/lessons', headers })).text,
  );
  return lessons.filter(({ description }) => String(description).includes(word));
};

describe('what a client with a subscription was taught, without a key of Instar', () => {
  it('stands in its prompts when its token was renewed, and after a restart (nothing is known by the token)', async () => {
    valid = new Set(['token-a']);
    await say({ token: 'token-a', session: 'first' });
    await say({ token: 'token-a', session: 'first', messages: withRule(RULE), isDone: true });
    await vi.waitFor(
      async () => expect(await rules('British')).toMatchObject([{ state: 'live', isAlways: true }]),
      SOON,
    );
    expect(await say({ token: 'token-a', session: 'second' })).toContain('British English');

    valid = new Set(['token-b']);
    expect((await send({ token: 'token-a', session: 'stale' })).answer.status).toBe(401);
    expect(await say({ token: 'token-b', session: 'third' })).toContain('British English');

    await stop();
    daemon = await start();
    valid = new Set(['token-c']);
    expect(await say({ token: 'token-c', session: 'fourth' })).toContain('British English');
  });

  it('is said in a conversation that goes on with the renewed token, and stands in the next one', async () => {
    valid = new Set(['token-d']);
    await say({ token: 'token-d', session: 'long' });
    valid = new Set(['token-e']);
    await say({
      token: 'token-e',
      session: 'long',
      messages: withRule('From now on always name the carrier in shipping reports.'),
      isDone: true,
    });
    await vi.waitFor(async () => expect(await rules('carrier')).toMatchObject([{ state: 'live' }]), SOON);
    valid = new Set(['token-f']);
    const messages = [{ role: 'user', content: 'Write the shipping report of this week' }];
    expect(await say({ token: 'token-f', session: 'report', messages })).toContain('carrier');
  });

  it('reaches no other client, no other provider, no key and nobody without a credential, whose token is as good', async () => {
    valid = new Set(['token-g']);
    expect(await say({ token: 'token-g', session: 'a' })).toContain('British English');
    const others: readonly Partial<Words>[] = [
      { client: CODEX },
      { client: 'my-program/1' },
      { provider: 'other' },
    ];
    for (const other of others)
      expect(await say({ token: 'token-g', session: 'b', ...other }), JSON.stringify(other)).not.toContain(
        'British',
      );
    await ask(daemon.port, {
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'plan/m', messages: [TASK], tools: TOOLS }),
      headers: { 'x-instar-key': daemon.key, authorization: 'Bearer token-g', 'user-agent': CLAUDE },
    });
    expect(provider.seen.at(-1)?.body.toString()).not.toContain('British');
  });

  it('is not taught with a token that the provider refuses', async () => {
    valid = new Set(['token-h']);
    await send({ token: 'forged', session: 'forged' });
    const rule = 'From now on always write amounts in guilders.';
    const { answer } = await send({
      token: 'forged',
      session: 'forged',
      messages: withRule(rule),
      isDone: true,
    });
    expect(answer.status).toBe(401);
    // Learning follows the record in its order: what was said before this rule has been looked at.
    await say({ token: 'token-h', session: 'later' });
    const later = withRule('From now on always end reports with a summary.');
    await say({ token: 'token-h', session: 'later', messages: later, isDone: true });
    await vi.waitFor(async () => expect(await rules('summary')).toMatchObject([{ state: 'live' }]), SOON);
    expect(await rules('guilders')).toEqual([]);
    expect(await say({ token: 'token-h', session: 'last' })).not.toContain('guilders');
  });
});
