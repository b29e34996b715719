import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const MAIN = path.join(root, 'dist/src/cli/main.js');
const SOON = { timeout: 60_000, interval: 300 };
const SUBSCRIPTION = 'sk-ant-oat01-a-login-of-the-user';
/** An address of this machine that is not loopback: a provider elsewhere, which a client's own login reaches. */
const ELSEWHERE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.internal === false && one.family === 'IPv4')?.address;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A model on three wires that writes dates the European way, unless its prompt speaks of ISO dates. `logins`: what it was called with. */
async function startModel(host: string): Promise<{ readonly url: string; readonly logins: Set<string> }> {
  const logins = new Set<string>();
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        const models = [{ id: 'clerk-12b', name: 'clerk-12b', model: 'clerk-12b', object: 'model' }];
        response.end(JSON.stringify({ object: 'list', data: models, models }));
        return;
      }
      logins.add(String(request.headers.authorization ?? request.headers['x-api-key'] ?? ''));
      const text = `The report: shipped ${/\biso\b/i.test(body) ? '2026-11-16' : '16/11/2026'}.`;
      const usage = { input_tokens: 9, output_tokens: 9, prompt_tokens: 9, completion_tokens: 9 };
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }];
      response.end(
        JSON.stringify(
          request.url?.endsWith('/messages')
            ? {
                id: 'msg_1',
                type: 'message',
                role: 'assistant',
                model: 'claude-clerk',
                content: [{ type: 'text', text }],
                stop_reason: 'end_turn',
                usage,
              }
            : { id: 'c', object: 'chat.completion', created: 1, model: 'clerk-12b', choices, usage },
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  ends.push(() => server.close());
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, logins };
}

/** A person with a new machine: nothing of this one but Node. They type nothing that was not printed before. */
function openStranger(env: NodeJS.ProcessEnv = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'stranger-'));
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  ends.push(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const all: NodeJS.ProcessEnv = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    OLLAMA_HOST: 'http://127.0.0.1:9',
    ...env,
  };
  const install = (name: string, script: string): void => {
    writeFileSync(path.join(bin, name), script);
    chmodSync(path.join(bin, name), 0o755);
  };
  install('instar', `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
  let printed = 'instar';
  const type = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = spawn('bash', ['-c', command], { env: all, stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          said += chunk.toString();
        });
      child.on('error', reject);
      child.on('close', () => {
        printed += said;
        resolve(said);
      });
    });
  /** A command that was printed; what stands in capitals is the person's own. */
  const follow = async (command: string, own: Readonly<Record<string, string>> = {}): Promise<string> => {
    const words = command.split(' ').filter((word) => own[word] === undefined);
    for (const word of words) expect(printed, `nobody told to type "${word}"`).toContain(word);
    return type(
      command
        .split(' ')
        .map((word) => own[word] ?? word)
        .join(' '),
    );
  };
  return { home, env: all, install, type, follow };
}

type Stranger = ReturnType<typeof openStranger>;

/** `instar up` as it was told, at a free port, until it is stopped. */
async function startUp({ home, env, type, follow }: Stranger): Promise<void> {
  const port = 20_000 + (process.pid % 20_000);
  await type(`instar config set gateway.port ${port}`);
  const child = spawn(path.join(home, 'bin', 'instar'), ['up'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  ends.push(async () => {
    await follow('instar stop');
    child.kill('SIGKILL');
  });
  await vi.waitFor(() => expect(said).toContain('instar ready'), SOON);
}

/** Wrong, corrected in the chat, right in a new conversation; and the command line says that the rule is kept. */
async function keepsMyRule(
  say: (conversation: string, text: string) => Promise<string>,
  { follow }: Stranger,
): Promise<void> {
  expect(await say('one', 'Write the shipping report for order 1.')).toContain('16/11/2026');
  expect(await say('one', 'No, we always use ISO dates in reports.')).toContain('2026-11-16');
  await vi.waitFor(
    async () => expect(await follow('instar lessons')).toContain('Use ISO dates in reports'),
    SOON,
  );
  expect(await say('two', 'Write the shipping report for order 2.')).toContain('2026-11-16');
  await vi.waitFor(
    async () => expect(await follow('instar lessons')).toMatch(/Use ISO dates.* live +kept 1 of 1/),
    SOON,
  );
}

/** An agent that keeps its conversations in files and asks the way that its environment says. */
const agent = (ask: string): string => `#!${process.execPath}
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const [name, text] = process.argv.slice(2);
const file = process.env.HOME + '/' + name + '.json';
const messages = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
messages.push({ role: 'user', content: text });
const post = (url, headers, body) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }).then((reply) => reply.json());
(async () => {
  ${ask}
  messages.push({ role: 'assistant', content: answer });
  writeFileSync(file, JSON.stringify(messages));
  console.log(answer);
})();
`;

const OPENAI = `const base = process.env.OPENAI_BASE_URL;
  const reply = await post(base + '/chat/completions', { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'user-agent': 'OpenAI/JS 6.0.0' }, { model: 'clerk-12b', messages });
  const answer = reply.choices ? reply.choices[0].message.content : JSON.stringify(reply);`;

const CLAUDE = `const { env } = JSON.parse(readFileSync(process.env.HOME + '/.claude/settings.json', 'utf8'));
  const custom = Object.fromEntries((env.ANTHROPIC_CUSTOM_HEADERS || '').split('\\n').filter(Boolean).map((line) => line.split(': ')));
  const reply = await post(env.ANTHROPIC_BASE_URL + '/v1/messages', { 'anthropic-version': '2023-06-01', 'user-agent': 'claude-cli/2.1.0 (external, cli)', 'x-app': 'cli', authorization: 'Bearer ' + (env.ANTHROPIC_AUTH_TOKEN || '${SUBSCRIPTION}'), ...custom }, { model: 'claude-clerk', max_tokens: 100, system: [{ type: 'text', text: "You are Claude Code, Anthropic's official CLI for Claude." }], tools: [{ name: 'Bash', description: 'Runs a command', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }], metadata: { user_id: 'user_0_account__session_' + name }, messages });
  const answer = reply.content ? reply.content[0].text : JSON.stringify(reply);`;

it('a user of Claude Code with a subscription: their own login reaches the provider, and their rule is kept', async () => {
  const model = await startModel(ELSEWHERE ?? '127.0.0.1');
  const stranger = openStranger();
  stranger.install('claude', agent(CLAUDE));
  const { type, follow } = stranger;
  await type('instar help');
  await follow('instar init');
  await follow('instar init --provider NAME --base-url URL --pass-through', {
    NAME: 'anthropic',
    URL: model.url,
  });
  await startUp(stranger);
  await follow('instar status');
  await follow('instar connect');
  await follow('instar connect claude-code');
  expect(await follow('instar connect claude-code --write')).toContain('try it');
  const say = (name: string, text: string): Promise<string> => type(`claude ${name} "${text}"`);
  await keepsMyRule(say, stranger);
  if (ELSEWHERE !== undefined) expect([...model.logins]).toEqual([`Bearer ${SUBSCRIPTION}`]);
});

it('a user of an SDK with a key in the environment: two lines in their shell, and their rule is kept', async () => {
  const model = await startModel('127.0.0.1');
  const stranger = openStranger({ SHOP_KEY: 'sk-shop-0123456789' });
  stranger.install('ask', agent(OPENAI));
  const { type, follow } = stranger;
  await type('instar help');
  await follow('instar init');
  await follow('instar init --provider NAME --wire W --base-url URL --key-env VAR --model M', {
    NAME: 'shop',
    W: 'openai-chat',
    URL: `${model.url}/v1`,
    VAR: 'SHOP_KEY',
    M: 'clerk-12b',
  });
  await startUp(stranger);
  await follow('instar status');
  await follow('instar connect');
  await follow('instar connect env');
  const say = (name: string, text: string): Promise<string> =>
    type(`eval "$(instar connect env)"; ask ${name} "${text}"`);
  await keepsMyRule(say, stranger);
  expect([...model.logins]).toEqual(['Bearer sk-shop-0123456789']);
});

it('a user of Ollama: it is found without a word of configuration, and their rule is kept', async () => {
  const model = await startModel('127.0.0.1');
  const stranger = openStranger({ OLLAMA_HOST: model.url });
  stranger.install('ask', agent(OPENAI));
  const { type, follow } = stranger;
  await type('instar help');
  await startUp(stranger);
  expect(await follow('instar status')).toMatch(/model +ollama/);
  await follow('instar connect');
  await follow('instar connect env');
  const say = (name: string, text: string): Promise<string> =>
    type(`eval "$(instar connect env)"; ask ${name} "${text}"`);
  await keepsMyRule(say, stranger);
});
