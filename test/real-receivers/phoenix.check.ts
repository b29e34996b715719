import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { startScriptedProvider } from '../clients/scripted-provider.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import type { Provider } from '../support/provider.ts';
import { type Phoenix, startPhoenix } from './start-phoenix.ts';

const WAIT = { timeout: 180_000, interval: 1000 };
const SESSION = 'dates-of-the-meetings';
const TASK = 'Write the meeting dates and times into the table in notes.md';
const TOOL = {
  type: 'function',
  function: { name: 'read_file', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
};
let phoenix: Phoenix;
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  phoenix = await startPhoenix();
  provider = await startScriptedProvider();
  home = makeHome({
    providers: { openai: { wire: 'openai', baseUrl: `${provider.url}/v1` } },
    traces: { url: phoenix.url, content: true },
  });
  daemon = await startDaemon(home.dir);
  const text = lessonText({
    name: 'date-offsets',
    description: 'When you write dates or times into a table or a file.',
    content: 'Use the offset +02:00 in every time.',
  });
  const change = { op: 'add', id: 'dates', kind: 'skill', state: 'live', text };
  await owner('/api/lessons', { changes: [change], reason: 'an example' });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  await phoenix.close();
  home.remove();
});

const owner = (where: string, body: object) =>
  ask(daemon.port, {
    path: where,
    headers: { authorization: `Bearer ${daemon.ownerKey}` },
    body: JSON.stringify(body),
  });
const send = async (model: string, messages: readonly object[], more: object = {}): Promise<string> => {
  const { headers } = await ask(daemon.port, {
    path: '/v1/chat/completions',
    headers: { 'x-instar-key': daemon.key, 'x-instar-session': SESSION, 'x-instar-agent': 'secretary' },
    body: JSON.stringify({ model, messages, ...more }),
  });
  return String(headers['x-instar-turn']);
};
const spans = async (): Promise<readonly JsonObject[]> =>
  asArray((await phoenix.get('/v1/projects/default/spans?limit=200')).data).map(asObject);
const of = (list: readonly JsonObject[], turn: string, name: RegExp): JsonObject => {
  const found = list.find(
    (span) => asObject(span.attributes)['instar.turn'] === turn && name.test(String(span.name)),
  );
  if (found === undefined) throw new Error(`Phoenix has no ${name} of ${turn}`);
  return found;
};

it('Phoenix shows a turn as a call of a model, with tokens, words, session, lessons, verdict and reward', async () => {
  const user = { role: 'user', content: TASK };
  const called = await send('openai/gpt-5.2', [user], { tools: [TOOL] });
  const calls = [0, 1].map((n) => ({
    id: `call_${n}`,
    type: 'function',
    function: { name: 'read_file', arguments: '{"city":"Bern"}' },
  }));
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '09:00 planning' }));
  const history = [user, { role: 'assistant', content: 'Looking.', tool_calls: calls }, ...results];
  const turn = await send('openai/gpt-5.2', history, { tools: [TOOL] });
  const failed = await send('openai/fail-400', [user]);
  await owner('/v1/feedback', { turn, score: 1, note: 'The offset is there.' });
  const found = await vi.waitFor(async () => {
    const list = await spans();
    return {
      call: of(list, called, /^chat/),
      turn: of(list, turn, /^chat/),
      reward: of(list, turn, /^reward/),
      failed: of(list, failed, /^chat/),
    };
  }, WAIT);
  const attributes = asObject(found.turn.attributes);
  expect(found.turn.span_kind).toBe('LLM');
  expect(attributes).toMatchObject({
    'llm.model_name': 'gpt-5.2',
    'llm.token_count.prompt': 40,
    'llm.token_count.completion': 7,
    'session.id': SESSION,
    'instar.lessons.names': ['date-offsets'],
  });
  expect(JSON.stringify(asObject(found.call.attributes))).toContain('read_file');
  expect(found.failed.status_code).toBe('ERROR');
  expect(found.reward.parent_id).toBe(asObject(found.turn.context).span_id);
  await takePicture(String(asObject(found.turn.context).trace_id));
});

/** `docs/traces-phoenix.png`, when SCREENSHOTS is set. */
async function takePicture(trace: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  const projects = asArray((await phoenix.get('/v1/projects')).data).map(asObject);
  const id = projects.find(({ name }) => name === 'default')?.id;
  await page.goto(`${phoenix.url}/projects/${String(id)}/traces/${trace}`);
  await page.getByText('reward person').first().waitFor({ timeout: 120_000 });
  const file = path.resolve(import.meta.dirname, '../../docs/traces-phoenix.png');
  await page.screenshot({ path: file });
  await browser.close();
}
