import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ChatEvent } from '../../src/core/chat.ts';
import { wires } from '../../src/wire/wires.ts';
import type { NativeHome } from '../plugins/native-home.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { runCommand } from './programs.ts';
import { HERMES, installPythonClient } from './python-client.ts';
import { LESSON, learnedWith, openRoutedHome, SOON, threadsOf } from './routed-home.ts';

const TASK = 'Write the meeting dates and times into notes.py';
const CORRECTION =
  'No, that is wrong. In this project always name the table meeting_dates, never just table.';
const OWN =
  '# mine\nmodel:\n  default: anthropic/claude # the good one\n  provider: openrouter\nmemory:\n  enabled: true\n';
let provider: Provider;
let instar: NativeHome;
let config = '';

beforeAll(async () => {
  provider = await startProvider(({ method, body }, response) => {
    if (method !== 'POST') return void response.writeHead(200).end('{"object":"list","data":[]}');
    const wire = wires['openai-chat'];
    const request = wire.decodeRequest(JSON.parse(body.toString()));
    const events: readonly ChatEvent[] = [
      { type: 'reply-start', id: 'reply', model: request.model },
      { type: 'text-delta', text: 'table = []' },
      { type: 'reply-end', stop: 'end', usage: { inputTokens: 900, outputTokens: 9 } },
    ];
    const encoder = wire.createStreamEncoder();
    response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
    const streamed = events.map((event) => encoder.encode(event)).join('');
    response.end(request.stream ? streamed : JSON.stringify(wire.encodeReply(events)));
  });
  instar = await openRoutedHome(provider);
  config = path.join(instar.person, '.hermes', 'config.yaml');
  mkdirSync(path.dirname(config), { recursive: true });
  writeFileSync(config, OWN);
});
afterAll(async () => {
  await instar.close();
  await provider.close();
});

it('Hermes is shown a lesson, its conversation is one session in its project, a correction is learned without its own prompt, --undo restores its file', async (context) => {
  const found = installPythonClient(HERMES);
  if ('missing' in found) return context.skip(found.missing);
  const connected = await instar.instar('connect', 'hermes', '--model', 'fake/fake-model', '--write');
  expect(connected.code, connected.stderr + connected.stdout).toBe(0);
  const run = (...args: string[]) =>
    runCommand(found.bin, ['chat', '-Q', ...args], {
      cwd: instar.work,
      env: { ...instar.env, PATH: process.env.PATH },
      lines: '',
    });
  const first = await run('-q', TASK);
  await run('--continue', '-q', CORRECTION);
  const asked = provider.seen
    .map(({ body }) => body.toString())
    .filter((body) => body.includes('"tools"') && body.includes('meeting dates'));
  expect(asked.length, first.output).toBe(2);
  expect(asked.map((body) => body.split(LESSON).length - 1)).toEqual([1, 1]);

  const threads = await vi.waitFor(async () => {
    const mains = (await threadsOf(instar)).filter(({ turns }) => turns.some(({ role }) => role === 'main'));
    expect(mains.map(({ client }) => client)).toEqual(['hermes']);
    expect(mains[0]?.turns.filter(({ role }) => role === 'main')).toHaveLength(2);
    return mains;
  }, SOON);
  const learned = JSON.stringify(await learnedWith(instar, 'meeting_dates'));
  // Its prompt tells its model how to remember; that is nobody's word.
  expect(learned).not.toMatch(/persistent memory|declarative facts|Nous Research/);
  expect((await instar.instar('connect', 'hermes', '--undo')).code).toBe(0);
  expect(readFileSync(config, 'utf8')).toBe(OWN);
  process.stderr.write(`hermes: ${HERMES.requirement}, ${threads[0]?.turns.length} turns in one session\n`);
});
