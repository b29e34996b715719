import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAttemptFolders } from '../../src/agent/attempts/attempt-folders.ts';
import { createAttempts } from '../../src/agent/attempts/attempts.ts';
import { createHeadlessAgent, HEADLESS_HOME, HEADLESS_URL } from '../../src/agent/attempts/headless-agent.ts';
import { findHeadlessProgram, type HeadlessProgram } from '../../src/agent/attempts/headless-programs.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { headlessSettings } from '../../src/connect/headless-settings.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Attempt, PracticeTask } from '../../src/core/practice.ts';
import { createTaskVerifier, readAttemptSteps } from '../../src/evidence/verifiers/verify-task.ts';
import { orderOf } from '../agent/attempts/orders.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import type { Provider } from '../support/provider.ts';

/** A client in a few lines: it asks the model what to write, and reports what it could reach. */
const CLIENT = `#!/usr/bin/env node
const http = require('node:http');
const { existsSync, writeFileSync, readFileSync } = require('node:fs');
const [, , mode, outside, prompt] = process.argv;
const settings = JSON.parse(readFileSync(process.env.HOME + '/.claude/settings.json', 'utf8')).env;
const call = (path, body) => new Promise((resolve) => {
  const request = http.request(settings.ANTHROPIC_BASE_URL + path, { method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', 'x-instar-session': 'forged', authorization: 'Bearer ' + settings.ANTHROPIC_AUTH_TOKEN } }, (response) => {
    let text = '';
    response.on('data', (chunk) => { text += chunk; });
    response.on('end', () => resolve({ status: response.statusCode, text }));
  });
  request.on('error', (error) => resolve({ status: 0, text: error.message }));
  request.end(body && JSON.stringify(body));
});
(async () => {
  if (mode === 'hang') { process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000); }
  if (mode === 'silent') process.exit(3);
  const said = await call('/v1/chat/completions', { model: 'p/m', messages: [{ role: 'user', content: prompt }] });
  if (mode === 'hang') return;
  if (said.status !== 200) { console.error('API error ' + said.status); process.exit(1); }
  writeFileSync('answer.txt', JSON.parse(said.text).choices[0].message.content);
  const api = (await call('/api/sessions')).status;
  const direct = await new Promise((resolve) => http.get('http://127.0.0.1:' + outside.split('|')[1], () => resolve('reached')).on('error', () => resolve('refused')));
  console.log(JSON.stringify({ api, direct, sees: existsSync(outside.split('|')[0]), home: process.env.HOME, secrets: JSON.stringify(process.env).includes('instar_') }));
})();
`;

const stage = createStage();
const folders = createAttemptFolders();
let provider: Provider;
let instar: InstarHere;
let folder = '';
let isLimited = false;
const BLOCK = 'A lesson for this attempt alone.';
beforeAll(async () => {
  provider = await stage.provider('p', (_, response) => {
    if (isLimited)
      return void response.writeHead(429, { 'retry-after': '40' }).end('{"error":{"message":"slow down"}}');
    replyWith(response, '42');
  });
  instar = await stage.open('programs', {
    providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1` } },
  });
  folder = stage.folder();
  const bin = path.join(folder, 'node_modules', 'pretend', 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(path.join(bin, 'claude'), CLIENT, { mode: 0o755 });
  // Programs run as another user than this test.
  for (const part of [folder, path.join(folder, 'node_modules')])
    mkdirSync(part, { recursive: true, mode: 0o755 });
});
afterAll(async () => {
  await folders.close();
  await stage.close();
});

async function attemptWith(
  mode: string,
  more: Partial<PracticeTask> = {},
  timeoutMs = 60_000,
): Promise<Attempt> {
  const found = await findHeadlessProgram(
    'claude-code',
    `${path.join(folder, 'node_modules/pretend/bin')}:${process.env.PATH}`,
  );
  if (found === undefined) throw new Error('the program is not found');
  const { config } = checkConfig(
    { providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1` } } },
    { env: {} },
  );
  const settings = headlessSettings('claude-code', {
    url: HEADLESS_URL,
    homeDir: HEADLESS_HOME,
    config,
    model: 'p/m',
  });
  const program: HeadlessProgram = {
    ...found,
    args: (prompt) => [mode, `${instar.dir}|${instar.port}`, prompt],
    answer: (stdout) => stdout.trim(),
  };
  const agent = createHeadlessAgent({
    program,
    open: async (order) => instar.daemon.openAttempt(order),
    settings: settings ?? {},
    clock: systemClock,
  });
  const make = createAttempts({
    agents: new Map([['claude-code', agent]]),
    folders,
    verify: createTaskVerifier({}),
    readSteps: readAttemptSteps,
    clock: systemClock,
  });
  const check = { kind: 'command', command: 'test "$(cat answer.txt)" = 42' } as const;
  const order = orderOf(
    { prompt: 'What is 6 times 7?', check, ...more },
    { id: `programs/${mode}/0`, timeoutMs, shown: { text: BLOCK, lessons: ['l_1'], generation: 2 } },
  );
  return make(order, new AbortController().signal);
}

describe('a program in confinement', () => {
  it('reaches models through the gateway with the lessons of its attempt, and nothing else', async () => {
    const attempt = await attemptWith('work');
    expect(attempt.outcome, JSON.stringify(attempt)).toMatchObject({ is: 'graded', reward: 1 });
    expect(JSON.parse(attempt.output)).toEqual({
      api: 404,
      direct: 'refused',
      sees: false,
      home: '/tmp/home',
      secrets: false,
    });
    expect(provider.seen.at(-1)?.body.toString()).toContain(BLOCK);
    expect(attempt).toMatchObject({ by: 'claude-code', lessons: ['l_1'], used: { calls: 1, tokens: 2000 } });
    const { turns } = await instar.owner('GET', '/api/sessions/programs%2Fwork%2F0');
    expect(turns).toMatchObject([{ runKind: 'practice' }]);
  });

  it('is an infrastructure error when its provider is limited, with the wait that was asked for', async () => {
    isLimited = true;
    const { outcome } = await attemptWith('limited').finally(() => {
      isLimited = false;
    });
    expect(outcome).toMatchObject({ is: 'infrastructure', isLimited: true, retryAfterMs: 40_000 });
  });

  it('is an infrastructure error when it ends before it has asked a model', async () => {
    const { outcome } = await attemptWith('silent');
    expect(outcome).toMatchObject({ is: 'infrastructure', why: expect.stringContaining('asked no model') });
  });

  it('is killed when its time is over, and what it left is graded', async () => {
    const { outcome } = await attemptWith('hang', {}, 3000);
    expect(outcome).toMatchObject({
      is: 'graded',
      reward: 0,
      reasons: expect.arrayContaining([expect.stringContaining('time ran out')]),
    });
  });

  it('is not given a task that it cannot take', async () => {
    const { outcome } = await attemptWith('work', { followUps: ['And then?'] });
    expect(outcome).toMatchObject({ is: 'infrastructure', isLasting: true });
  });
});
