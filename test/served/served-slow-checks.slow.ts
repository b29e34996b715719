import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** A machine on which no process may have namespaces of its own: every sandbox needs some. */
const WITHOUT_NAMESPACES = [
  'unshare',
  '-Ur',
  'sh',
  '-c',
  'cd /proc/sys/user; for kind in user mnt pid; do echo 0 > max_"$kind"_namespaces; done; cd "$OLDPWD"; exec "$@"',
  'sh',
];
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
/** In place of writing it whole. */
let edit: readonly [tool: string, input: object] | undefined;
let reply = 'The script is there.';
let quote = 'The script is there.';

beforeAll(async () => {
  provider = await startProvider(({ body }, response) => {
    const { messages } = JSON.parse(body.toString());
    const isJudge = JSON.stringify(messages).includes(JUDGE);
    const isBegin = messages.at(-1).role === 'user';
    const [name, input] = edit ?? ['Write', { content: script }];
    const args = JSON.stringify({ file_path: '/home/ada/app/count.py', ...input });
    const call = { id: `c${messages.length}`, type: 'function', function: { name, arguments: args } };
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

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const setCheck = async (lesson: string, check: object) => {
  const file = path.join(home.dir, `${lesson}.json`);
  writeFileSync(file, JSON.stringify(check));
  return runInProcess(['lessons', 'check', lesson, '--set', file, '--home', home.dir]);
};
const counts = async (lesson: string) => {
  const { shown, applied, kept } = (await owner('GET', `/api/lessons/${lesson}`)).adherence as JsonObject;
  return { shown, applied, kept };
};

/** One answer of an agent that writes a file and then speaks; `messages`: the conversation before it. */
async function work(session: string, messages: JsonObject[] = []): Promise<JsonObject[]> {
  const send = async () => {
    const { text } = await ask(daemon.port, {
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'default', messages }),
      headers: { 'x-instar-key': daemon.key, 'x-instar-agent': 'coder', 'x-instar-session': session },
    });
    const { message } = JSON.parse(text).choices[0];
    messages.push(message);
    return message;
  };
  messages.push({ role: 'user', content: TASK });
  const { tool_calls: calls } = await send();
  messages.push({ role: 'tool', tool_call_id: calls[0].id, content: 'The file has been updated.' });
  await send();
  return messages;
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

  it('is measured on an edited file as it is then, and not on a file of which the record has a half', async () => {
    const before = await counts('no-print');
    const conversation = await work('edited');
    const kept = { ...before, shown: Number(before.shown) + 1, applied: Number(before.applied) + 1 };
    await vi.waitFor(
      async () => expect(await counts('no-print')).toEqual({ ...kept, kept: Number(before.kept) + 1 }),
      SOON,
    );
    edit = ['Edit', { old_string: '1', new_string: '2\nprint(total)' }];
    await work('edited', conversation);
    await vi.waitFor(
      async () => expect(await counts('no-print')).toEqual({ ...kept, kept: before.kept }),
      SOON,
    );
    edit = ['Edit', { old_string: 'x', new_string: 'y' }];
    await work('half');
    edit = undefined;
    await work('whole');
    await vi.waitFor(
      async () =>
        expect(await counts('no-print')).toEqual({
          shown: kept.shown + 2,
          applied: kept.applied + 1,
          kept: Number(before.kept) + 1,
        }),
      SOON,
    );
  });
});

describe('a rule whose check is a judge', () => {
  it('counts by the words that the judge quotes, and asks once in a conversation', async () => {
    await setCheck('no-boast', { looksAt: 'reply', holdsWhen: [{ is: 'judge', asks: 'Never boast.' }] });
    // It had no check: nothing was measured yet. In which prompts it stood counts as it comes.
    const measured = async () => {
      const { applied, kept } = await counts('no-boast');
      return { applied, kept };
    };
    expect(await measured()).toEqual({ applied: 0, kept: 0 });
    reply = 'The finest script of all is there.';
    quote = 'finest script of all';
    await work('boasting');
    await vi.waitFor(async () => expect(await measured()).toEqual({ applied: 1, kept: 0 }), SOON);
    expect(judgeCalls()).toBe(1);
    quote = 'words that nobody wrote';
    await work('quoted wrongly');
    await vi.waitFor(() => expect(judgeCalls()).toBe(2), SOON);
    await work('quoted wrongly');
    await work('another');
    await vi.waitFor(() => expect(judgeCalls()).toBe(3), SOON);
    expect(await measured()).toEqual({ applied: 1, kept: 0 });
  });
});

// The last one: the daemon that it starts is the one that stays.
describe('a check in a sandbox', () => {
  it('is told to be able to run here, and on a machine without a sandbox that it cannot, and how to get one', async () => {
    const show = () => runInProcess(['lessons', 'show', 'no-print', '--home', home.dir]);
    expect((await show()).stdout).not.toContain('sandbox, so the command is not run');
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    daemon = await startDaemon(home.dir, WITHOUT_NAMESPACES);
    const { stdout } = await show();
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'this machine has no sandbox, so the command is not run; to get one: install bubblewrap',
    );
    const page = await owner('GET', '/api/page/lessons/no-print');
    expect(page.cannotCheck).toContain('install bubblewrap');
  });
});
