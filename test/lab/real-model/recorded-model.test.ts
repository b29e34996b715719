import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { asObject, asString, parseJson } from '../../../src/core/json.ts';
import { createTemporaryFolder } from '../../cli/run-cli.ts';

const { dir, remove } = createTemporaryFolder();
afterAll(remove);
let model: ChildProcess | undefined;
afterEach(async () => {
  if (model === undefined) return;
  const ended = once(model, 'exit');
  model.kill('SIGTERM');
  await ended;
});

/** Starts the recorded model on a free port; returns its URL. */
async function start(name: string, ...more: readonly string[]): Promise<string> {
  const files = [
    '--replies',
    path.join(dir, `${name}.jsonl`),
    '--missing',
    path.join(dir, `${name}-missing`),
  ];
  model = spawn(process.execPath, [
    'build/lab/real-model/recorded-model.js',
    ...files,
    '--port',
    '0',
    ...more,
  ]);
  const [line] = (await once(model.stdout ?? model, 'data')) as [Buffer];
  return /http:\S+/.exec(line.toString())?.[0] ?? '';
}

async function ask(url: string, text: string): Promise<unknown> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] });
  const reply = await fetch(`${url}/chat/completions`, { method: 'POST', body });
  return reply.json();
}

const missingIn = (name: string): readonly string[] => {
  const file = path.join(dir, `${name}-missing`);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => asString(asObject(parseJson(line)).id) ?? '');
};

it('writes down what it has no reply to, says so, and counts tokens by length', async () => {
  const url = await start('plain');
  const reply = await ask(url, 'Which shell?');
  expect(reply).toMatchObject({ choices: [{ message: { content: 'I have no answer to this yet.' } }] });
  expect(reply).toMatchObject({ usage: { completion_tokens: 8 } });
  expect(missingIn('plain')).toHaveLength(1);
});

it('answers a request that waits as soon as its reply is written, with calls of the tool', async () => {
  const url = await start('waiting', '--wait');
  const asked = ask(url, 'List the files.');
  await vi.waitFor(() => expect(missingIn('waiting')).toHaveLength(1), { timeout: 10_000 });
  const [id] = missingIn('waiting');
  const line = JSON.stringify({ id, reply: 'I look.', commands: ['ls', 'cat a.txt'] });
  appendFileSync(path.join(dir, 'waiting.jsonl'), `${line}\n`);
  const call = (nth: number, command: string) => ({
    id: `call_${id}_${nth}`,
    function: { name: 'run_command', arguments: JSON.stringify({ command }) },
  });
  expect(await asked).toMatchObject({
    choices: [
      {
        finish_reason: 'tool_calls',
        message: { content: 'I look.', tool_calls: [call(1, 'ls'), call(2, 'cat a.txt')] },
      },
    ],
  });
});
