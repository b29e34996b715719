import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const JUDGE = 'You tell whether a piece of work';
const TASK = 'Write the script that counts the parcels.';

const rule = (id: string, description: string) => ({
  op: 'add',
  id,
  kind: 'skill',
  state: 'live',
  text: lessonText({
    name: id,
    description: `"${description}"`,
    content: 'The user said so.',
    note: { source: 'told', isAlways: true },
  }),
});

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
/** What the agent writes, and what it says then. */
let script = 'total = 1\n';
let reply = 'The script is there.';
let quote = 'The script is there.';

beforeAll(async () => {
  provider = await startProvider(({ body }, response) => {
    const { messages } = JSON.parse(body.toString());
    const isJudge = JSON.stringify(messages).includes(JUDGE);
    const isBegin = messages.at(-1).role === 'user';
    const input = { file_path: '/home/ada/app/count.py', content: script };
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'Write', arguments: JSON.stringify(input) },
    };
    const message = isJudge
      ? { role: 'assistant', content: JSON.stringify({ quote, says: 'breaks' }) }
      : isBegin
        ? { role: 'assistant', content: null, tool_calls: [call] }
        : { role: 'assistant', content: reply };
    const finish = isBegin && !isJudge ? 'tool_calls' : 'stop';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'r',
        model: 'm',
        choices: [{ index: 0, finish_reason: finish, message }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    );
  });
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'local/m', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
  const changes = [
    rule('no-print', 'Never use print in scripts.'),
    rule('no-boast', 'Never boast about your work.'),
  ];
  await owner('POST', '/api/lessons', { changes, reason: 'a test' });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (method: string, path: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse((await ask(daemon.port, { method, path, headers, ...text })).text);
};
const setCheck = async (lesson: string, check: object) => {
  const file = path.join(home.dir, `${lesson}.json`);
  writeFileSync(file, JSON.stringify(check));
  return runInProcess(['lessons', 'check', lesson, '--set', file, '--home', home.dir]);
};
const counts = async (lesson: string) => {
  const { shown, applied, kept } = (await owner('GET', `/api/lessons/${lesson}`)).adherence as JsonObject;
  return { shown, applied, kept };
};

/** One answer of an agent that writes a file and then speaks. */
async function work(session: string): Promise<void> {
  const messages: object[] = [{ role: 'user', content: TASK }];
  const send = async () => {
    const { text } = await ask(daemon.port, {
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'default', messages }),
      headers: { 'x-instar-key': daemon.key, 'x-instar-agent': 'coder', 'x-instar-session': session },
    });
    messages.push(JSON.parse(text).choices[0].message);
  };
  await send();
  messages.push({ role: 'tool', tool_call_id: 'c1', content: 'written' });
  await send();
}
const judgeCalls = (): number => provider.seen.filter(({ body }) => body.toString().includes(JUDGE)).length;

describe('a rule whose check is a command', () => {
  it('is refused with a reason where the command looks at no file', async () => {
    const said = await setCheck('no-print', {
      looksAt: 'files',
      holdsWhen: [{ is: 'command', command: 'true' }],
    });
    expect(said.stderr).toContain('looks at no file');
    expect(said.code).not.toBe(0);
  });

  it('is measured after the turn, in a sandbox with the files that the agent wrote', async () => {
    const command = '! grep -n "print(" *.py';
    const { stdout } = await setCheck('no-print', {
      looksAt: 'files',
      holdsWhen: [{ is: 'command', command }],
    });
    expect(stdout).toContain('exits with 0 in a sandbox');
    await work('kept');
    await vi.waitFor(
      async () => expect(await counts('no-print')).toEqual({ shown: 1, applied: 1, kept: 1 }),
      SOON,
    );
    script = 'print(1)\n';
    await work('broken');
    await vi.waitFor(
      async () => expect(await counts('no-print')).toEqual({ shown: 2, applied: 2, kept: 1 }),
      SOON,
    );
    script = 'total = 1\n';
  });
});

describe('a rule whose check is a judge', () => {
  it('counts by the words that the judge quotes, and asks once in a conversation', async () => {
    await setCheck('no-boast', { looksAt: 'reply', holdsWhen: [{ is: 'judge', asks: 'Never boast.' }] });
    const before = await counts('no-boast');
    reply = 'The finest script of all is there.';
    quote = 'finest script of all';
    await work('boasting');
    await vi.waitFor(
      async () =>
        expect(await counts('no-boast')).toEqual({
          shown: Number(before.shown) + 1,
          applied: Number(before.applied) + 1,
          kept: before.kept,
        }),
      SOON,
    );
    expect(judgeCalls()).toBe(1);
    quote = 'words that nobody wrote';
    await work('quoted wrongly');
    await vi.waitFor(() => expect(judgeCalls()).toBe(2), SOON);
    await work('quoted wrongly');
    await work('another');
    await vi.waitFor(() => expect(judgeCalls()).toBe(3), SOON);
    expect(await counts('no-boast')).toMatchObject({ applied: Number(before.applied) + 1 });
  });
});
