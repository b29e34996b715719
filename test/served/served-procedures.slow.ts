import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

const SOON = { timeout: 100_000, interval: 50 };
const PATH = '/v1/chat/completions';
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

/** The commands of an agent, one for each request, with the output of its shell. */
type Shell = readonly (readonly [command: string, output: string])[];
let shell: Shell = [];

const replyTo = (calls: number): JsonObject => {
  const [command] = shell[calls] ?? [];
  const message =
    command === undefined
      ? { role: 'assistant', content: 'It is done.' }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: `call_${calls}`,
              type: 'function',
              function: { name: 'shell', arguments: JSON.stringify({ command }) },
            },
          ],
        };
  const finish = command === undefined ? 'stop' : 'tool_calls';
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: finish }],
  };
};

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const { messages } = JSON.parse(request.body.toString()) as { messages: { role: string }[] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(replyTo(messages.filter(({ role }) => role === 'tool').length)));
  });
  home = makeHome({
    providers: { caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

/** An agent that runs each command and sends the output with its next request, and ends its session. */
async function work(session: string, task: string, commands: Shell): Promise<void> {
  shell = commands;
  const messages: object[] = [{ role: 'user', content: task }];
  for (let nth = 0; nth <= commands.length; nth++) {
    const done = nth === commands.length ? { 'x-instar-session-done': 'true' } : {};
    const headers = {
      'x-instar-key': daemon.key,
      'x-instar-session': session,
      'x-instar-agent': 'coder',
      ...done,
    };
    const body = JSON.stringify({ model: 'caller/m', messages });
    const { text } = await ask(daemon.port, { path: PATH, body, headers });
    const { choices } = JSON.parse(text) as { choices: { message: object }[] };
    messages.push(choices[0]?.message ?? {});
    const [, output] = commands[nth] ?? [];
    if (output !== undefined) messages.push({ role: 'tool', tool_call_id: `call_${nth}`, content: output });
  }
}
const lessons = async (): Promise<readonly JsonObject[]> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  return JSON.parse((await ask(daemon.port, { method: 'GET', path: '/api/lessons', headers })).text);
};
/** What the daemon reported of the sessions itself. */
const healed = async (): Promise<readonly JsonObject[]> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const { text } = await ask(daemon.port, { method: 'GET', path: '/api/adapt', headers });
  const { events } = JSON.parse(text) as { events: readonly JsonObject[] };
  return events.filter(({ kind }) => kind === 'successful_heal');
};
const ended = (code: number, output: string): string =>
  `Exit code: ${code}\nWall time: 0.2 seconds\nOutput:\n${output}`;

describe('work through the daemon, without a model for learning', () => {
  it('teaches nothing when it was routine', async () => {
    await work('routine', 'are the tests green?', [
      ['ls', ended(0, 'package.json src test\n')],
      ['npm test', ended(0, 'Tests: 12 passed, 12 total\n')],
    ]);
    await work('routine-2', 'and the build?', [['npm run build', ended(0, 'built in 2s\n')]]);
    expect(await lessons()).toEqual([]);
  });

  it('teaches its steps to the next session after it struggled and its checks passed', async () => {
    await work('struggle', 'get the test suite of this checkout running', [
      ['pytest -q', ended(1, "E   ModuleNotFoundError: No module named 'shop'\n")],
      [
        'poetry install',
        ended(1, 'pyproject.toml changed significantly since poetry.lock was last generated.\n'),
      ],
      ['uv sync', ended(0, 'Installed 41 packages in 90ms\n')],
      ['uv run pytest -q', ended(0, '8 passed in 0.31s\n')],
    ]);
    await vi.waitFor(async () => expect(await healed()).toHaveLength(1), SOON);
    expect(await healed()).toMatchObject([
      { scopeType: 'agent', scopeId: 'coder', score: 75, sourceLabel: expect.stringMatching(/^error\./) },
    ]);
    await vi.waitFor(async () => expect(await lessons()).toHaveLength(1), SOON);
    expect(await lessons()).toMatchObject([
      { kind: 'experience', state: 'trial', scope: { agent: 'coder' } },
    ]);
    await work('next', 'get the test suite of this checkout running again', []);
    const sent = provider.seen
      .map(({ body }) => body.toString())
      .findLast((body) => body.includes('running again'));
    expect(sent).toContain('uv run pytest -q');
    expect(sent).toContain('Not `poetry install`');
  });
});
