import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { agentOf } from '../../src/agent/attempts/session-agents.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { taskId } from '../../src/learn/practice/sources/split.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { taskOf } from '../learn/practice/scripted-practice.ts';
import type { Provider } from '../support/provider.ts';

/** A client in a few lines: it asks the model with the settings of Claude Code, and prints the answer as that does. */
const CLIENT = `#!/usr/bin/env node
const http = require('node:http');
const { readFileSync } = require('node:fs');
const settings = JSON.parse(readFileSync(process.env.HOME + '/.claude/settings.json', 'utf8')).env;
const body = { model: settings.ANTHROPIC_MODEL, messages: [{ role: 'user', content: process.argv[3] }] };
const request = http.request(settings.ANTHROPIC_BASE_URL + '/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
  let text = '';
  response.on('data', (chunk) => { text += chunk; });
  response.on('end', () => console.log(JSON.stringify({ result: 'claude says ' + JSON.parse(text).choices[0].message.content })));
});
request.end(JSON.stringify(body));
`;
/** The same with the settings and the printed form of OpenClaw; it refuses what OpenClaw would not understand. */
const OPENCLAW = `#!/usr/bin/env node
const http = require('node:http');
const { readFileSync } = require('node:fs');
const { models, agents } = JSON.parse(readFileSync(process.env.HOME + '/.openclaw/openclaw.json', 'utf8'));
const provider = models.providers.instar;
const words = process.argv.slice(2);
const valueOf = (option) => words[words.indexOf(option) + 1];
if (words[0] !== 'agent' || !words.includes('--local') || valueOf('--agent') !== 'main') process.exit(2);
if (agents.defaults.model.primary !== 'instar/' + provider.models[0].id) process.exit(3);
const body = { model: provider.models[0].id, messages: [{ role: 'user', content: valueOf('--message') }] };
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + provider.apiKey };
const request = http.request(provider.baseUrl + '/chat/completions', { method: 'POST', headers }, (response) => {
  let text = '';
  response.on('data', (chunk) => { text += chunk; });
  response.on('end', () => {
    const answer = JSON.parse(text).choices[0].message.content;
    console.log('[openclaw] starting\\n' + JSON.stringify({ payloads: [{ text: 'openclaw says ' + answer }], meta: {} }));
  });
});
request.end(JSON.stringify(body));
`;
const TOPICS = ['bread', 'diesel', 'rent', 'salaries', 'power', 'seeds', 'apples', 'tickets'];
const NAMES = ['model', 'claude-code', 'codex', 'opencode', 'pi', 'openclaw'];

const stage = createStage();
let provider: Provider;
const { PATH } = process.env;
beforeAll(async () => {
  provider = await stage.provider('p', (_, response) => replyWith(response, 'forty-two'));
  const folder = stage.folder();
  const bin = path.join(folder, 'node_modules', 'pretend', 'bin');
  // Programs run as another user than this test.
  for (const part of [folder, path.join(folder, 'node_modules'), bin])
    mkdirSync(part, { recursive: true, mode: 0o755 });
  writeFileSync(path.join(bin, 'claude'), CLIENT, { mode: 0o755 });
  writeFileSync(path.join(bin, 'openclaw'), OPENCLAW, { mode: 0o755 });
  process.env.PATH = `${bin}:${PATH}`;
});
afterAll(async () => {
  process.env.PATH = PATH;
  await stage.close();
});

const open = (name: string, agent: string | readonly string[]): Promise<InstarHere> =>
  stage.open(
    name,
    {
      providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
      models: { default: 'p/m', practice: 'p/m' },
      practice: { agent },
    },
    { env: { P_KEY: 'provider-key-0123456789' } },
  );

const text = TOPICS.map((topic) =>
  JSON.stringify({
    prompt: `${topic} ${topic}: what does the ${topic} cost?`,
    check: { kind: 'regex', pattern: '^(claude|openclaw) says forty-two' },
  }),
).join('\n');

async function practise(instar: InstarHere): Promise<JsonObject> {
  const practice = (what: string, body: JsonObject = {}) =>
    instar.owner('POST', `/api/practice/${what}`, body);
  expect(await practice('add', { text, file: 'tasks.jsonl' })).toMatchObject({ added: TOPICS.length });
  expect(await practice('run', { kind: 'micro' })).toEqual({ started: true });
  await vi.waitFor(async () => expect((await practice('status')).running).toBeUndefined(), {
    timeout: 100_000,
    interval: 200,
  });
  return practice('status');
}

describe('tasks of practice', () => {
  it.each(['claude-code', 'openclaw'])(
    'are attempted by the agent of the config, %s, through the gateway',
    async (agent) => {
      const instar = await open(`by-${agent}`, agent);
      expect(await practise(instar)).toMatchObject({ sessions: [{ end: 'done' }] });
      const report = await instar.owner('POST', '/api/practice/report', {});
      expect(report.counts).toMatchObject({ graded: 6, infrastructure: 0 });
      const rewards = asArray(report.perTask).flatMap((task) => asArray(asObject(task).rewards));
      expect(new Set(rewards)).toEqual(new Set([1]));
      // Through the gateway, each in a session of its own that is no work of a person.
      const sessions = asArray(await instar.owner('GET', '/api/sessions?practice=true'));
      expect(sessions.length).toBeGreaterThanOrEqual(6);
      expect(sessions.every((one) => String(asObject(one).id).startsWith('attempt:'))).toBe(true);
      expect(await instar.owner('GET', '/api/sessions')).toEqual([]);
    },
  );

  it('are not attempted when the program is not installed: the session says what to do', async () => {
    process.env.PATH = stage.folder();
    const instar = await open('no-program', ['codex']);
    expect((await practise(instar)).problem).toContain('codex is not in PATH: install it, or take it out');
  });

  it('have one agent each, of the list, and a program none that it cannot be given', () => {
    const tasks = Array.from({ length: 60 }, (_, at) => taskOf(`t${at}`));
    const chosen = new Set(tasks.map((task) => agentOf(task, NAMES)));
    expect([...chosen].sort()).toEqual([...NAMES].sort());
    for (const task of tasks) {
      expect(agentOf({ ...task, id: taskId('variation', task.root) }, NAMES)).toBe(agentOf(task, NAMES));
      expect(agentOf({ ...task, followUps: ['and now?'] }, NAMES)).toBe('model');
      expect(agentOf(task, ['pi'])).toBe('pi');
    }
  });
});
