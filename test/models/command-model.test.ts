import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatModel, ChatRequest } from '../../src/core/chat.ts';
import { collect, createSignal, lastFailure, REQUEST, until } from './provider.ts';
import { createStandIn } from './stub-program.ts';

const ask = (model: ChatModel, request: ChatRequest = REQUEST) =>
  collect(model(request, { signal: createSignal() }));
const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
/** A killed orphan stays a zombie until init reaps it; it counts as dead. */
const isAlive = (pid: number): boolean => {
  try {
    if (!existsSync('/proc/self/stat')) return process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

describe('claude', () => {
  it('runs without tools, settings, sessions and commands, in an empty folder that is removed afterwards', async () => {
    const { model, left } = await createStandIn(
      'claude',
      `answer(JSON.stringify({ args, input: input(), files: fs.readdirSync('.'), cwd: process.cwd(),
        system: fs.readFileSync(args.find((a) => a.startsWith('--system-prompt-file=')).split('=')[1], 'utf8') }));`,
    );
    const seen = JSON.parse(textOf(await ask(model)));
    expect(seen).toMatchObject({ input: 'The request:\n\nHi', system: 'Be brief.', files: [] });
    for (const arg of [
      '-p',
      '--tools=',
      '--strict-mcp-config',
      '--no-session-persistence',
      '--setting-sources=',
      '--disable-slash-commands',
    ]) {
      expect(seen.args).toContain(arg);
    }
    expect(existsSync(seen.cwd)).toBe(false);
    expect(await left()).toEqual([]);
  });

  it('returns its text, the model with the most output tokens, and the tokens including the cache', async () => {
    const { model } = await createStandIn(
      'claude',
      `answer('Hello there', { session_id: 's1', stop_reason: 'max_tokens',
        modelUsage: { haiku: { outputTokens: 1 }, opus: { outputTokens: 4 } },
        usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 4 } });`,
    );
    expect(await ask(model)).toEqual([
      { type: 'reply-start', id: 's1', model: 'opus' },
      { type: 'text-delta', text: 'Hello there' },
      {
        type: 'reply-end',
        stop: 'length',
        usage: { inputTokens: 115, outputTokens: 4, cacheReadTokens: 100, cacheWriteTokens: 5 },
      },
    ]);
  });

  it.each([
    [
      'is not signed in',
      "print({ type: 'result', is_error: true, result: 'Not logged in · Please run /login' }); process.exit(1)",
      'unauthorized',
      /claude setup-token/,
    ],
    [
      'has a wrong key',
      "print({ type: 'result', is_error: true, api_error_status: 401, result: 'API Error' }); process.exit(1)",
      'unauthorized',
      /\/login/,
    ],
    [
      'meets a busy provider',
      "print({ type: 'result', is_error: true, api_error_status: 529, result: 'Overloaded' })",
      'overloaded',
      /Overloaded/,
    ],
    [
      'has used up its plan',
      "print({ type: 'result', is_error: true, result: 'Claude usage limit reached' })",
      'rate-limited',
      /limit/,
    ],
    [
      'has no network',
      "print({ type: 'result', is_error: true, result: 'API Error: Unable to connect to API' })",
      'unreachable',
      /connect/,
    ],
    [
      'gives a result without text',
      "print({ type: 'result', subtype: 'error_during_execution' })",
      'upstream-error',
      /error_during_execution/,
    ],
    [
      'answers in place of the model',
      "answer('/help is not available', { num_turns: 0 })",
      'upstream-error',
      /help/,
    ],
    [
      'is too old',
      'process.stderr.write("error: unknown option --tools="); process.exit(1)',
      'upstream-error',
      /npm install -g @anthropic-ai\/claude-code/,
    ],
    [
      'complains in colour',
      "process.stderr.write('\\x1b[31mdisk full\\x1b[0m'); process.exit(3)",
      'upstream-error',
      /disk full.*exit code 3/,
    ],
    ['exits without a word', 'process.exit(1)', 'upstream-error', /exit code 1/],
    [
      'crashes',
      "process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1000)",
      'upstream-error',
      /was killed/,
    ],
    [
      'prints garbage',
      "process.stdout.write('no JSON at all')",
      'upstream-error',
      /no answer that Instar can parse/,
    ],
    ['prints half of its JSON', 'process.stdout.write(\'{"type":"result",\')', 'upstream-error', /no answer/],
    ['prints nothing', '', 'upstream-error', /no answer/],
  ] as const)('that %s is one failure with advice', async (_what, program, kind, message) => {
    const { model, left } = await createStandIn('claude', program);
    const events = await ask(model);
    expect(events).toHaveLength(1);
    expect(lastFailure(events)).toMatchObject({ kind, message: expect.stringMatching(message) });
    expect(lastFailure(events).message).not.toMatch(/\p{Cc}/u);
    expect(await left()).toEqual([]);
  });
});

describe('codex', () => {
  const EVENTS = `
    print({ type: 'thread.started', thread_id: 't1' });
    print({ type: 'item.completed', item: { type: 'error', message: 'a warning' } });
    print({ type: 'error', message: 'Reconnecting... 1/5' });
    print({ type: 'item.completed', item: { type: 'agent_message', text: 'thinking aloud' } });`;

  it('runs in a read-only sandbox without shell, agents, web, rules and the user’s settings', async () => {
    const { model } = await createStandIn(
      'codex',
      `print({ type: 'item.completed', item: { type: 'agent_message', text: JSON.stringify({ args, input: input() }) } });
       print({ type: 'turn.completed' });`,
    );
    const { args, input } = JSON.parse(textOf(await ask(model)));
    expect(input).toContain('Hi');
    for (const arg of [
      'exec',
      '--sandbox=read-only',
      '--ephemeral',
      '--ignore-user-config',
      '--ignore-rules',
      'features.shell_tool=false',
      'features.code_mode_host=false',
      'agents.enabled=false',
      'web_search="disabled"',
      'approval_policy="never"',
    ]) {
      expect(args).toContain(arg);
    }
    expect(args.at(-1)).toBe('-');
  });

  it('returns its last message and the tokens, even after warnings', async () => {
    const { model } = await createStandIn(
      'codex',
      `${EVENTS}
      print({ type: 'item.completed', item: { type: 'agent_message', text: 'the answer' } });
      print({ type: 'turn.completed', usage: { input_tokens: 12, cached_input_tokens: 3, output_tokens: 4, reasoning_output_tokens: 1 } });`,
    );
    expect(await ask(model)).toEqual([
      { type: 'reply-start', id: 't1', model: 'codex' },
      { type: 'text-delta', text: 'the answer' },
      {
        type: 'reply-end',
        stop: 'end',
        usage: {
          inputTokens: 12,
          outputTokens: 4,
          cacheReadTokens: 3,
          cacheWriteTokens: 0,
          reasoningTokens: 1,
        },
      },
    ]);
  });

  it.each([
    [
      'has a wrong key',
      `${EVENTS} print({ type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized' } }); process.exit(1)`,
      'unauthorized',
      /codex login/,
    ],
    [
      'never gets through',
      `${EVENTS} print({ type: 'error', message: 'stream disconnected' }); process.exit(1)`,
      'unreachable',
      /stream disconnected/,
    ],
    [
      'is too old',
      "process.stderr.write('error: unexpected argument --ephemeral'); process.exit(2)",
      'upstream-error',
      /npm install -g @openai\/codex/,
    ],
    ['prints garbage', "process.stdout.write('garbage\\nmore garbage\\n')", 'upstream-error', /no answer/],
  ] as const)('that %s is one failure with advice', async (_what, program, kind, message) => {
    const { model } = await createStandIn('codex', program);
    expect(lastFailure(await ask(model))).toMatchObject({ kind, message: expect.stringMatching(message) });
  });
});

describe('a command', () => {
  it('that is not installed fails with the install command', async () => {
    const { model } = await createStandIn('claude', '', { env: { PATH: '/nonexistent' } });
    expect(lastFailure(await ask(model))).toMatchObject({
      kind: 'not-found',
      final: true,
      message: expect.stringContaining('npm install -g @anthropic-ai/claude-code'),
    });
  });

  it('that is not executable fails with EACCES', async () => {
    const { model } = await createStandIn('claude', '', { path: '/' });
    expect(lastFailure(await ask(model)).message).toContain('EACCES');
  });

  it('is not started for a request with tools', async () => {
    const { model, folder } = await createStandIn(
      'claude',
      "fs.writeFileSync(process.env.HOME + '/started', '')",
    );
    const events = await ask(model, { ...REQUEST, tools: [{ name: 'bash', parameters: {} }] });
    expect(lastFailure(events).kind).toBe('bad-request');
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  /** Writes its own pid and that of a child, then ignores SIGTERM. */
  const STUBBORN = `
    process.on('SIGTERM', () => {});
    const child = require('node:child_process').spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: 'inherit' });
    fs.writeFileSync(process.env.HOME + '/pids', process.pid + ' ' + child.pid);
    setInterval(() => {}, 1000);`;
  const pidsIn = (folder: string) => readFileSync(join(folder, 'pids'), 'utf8').split(' ').map(Number);

  it('that hangs is killed after the time-out, with its children, even if all ignore SIGTERM', async () => {
    const { model, folder, left } = await createStandIn('claude', STUBBORN, {
      timeoutMs: 3_000,
      graceMs: 200,
    });
    expect(lastFailure(await ask(model))).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('3 s'),
    });
    await until(() => !pidsIn(folder).some(isAlive));
    expect(await left()).toEqual([]);
  });

  it('is stopped when the caller aborts', async () => {
    const { model, folder } = await createStandIn('codex', STUBBORN, { graceMs: 200 });
    const leaving = new AbortController();
    const reply = collect(model(REQUEST, { signal: leaving.signal }));
    await until(() => existsSync(join(folder, 'pids')) && pidsIn(folder).length === 2);
    leaving.abort();
    expect(lastFailure(await reply).kind).toBe('aborted');
    await until(() => !pidsIn(folder).some(isAlive));
  });

  it('that leaves a child holding its output is not waited for, and the child is killed', async () => {
    const { model, folder } = await createStandIn(
      'claude',
      `const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
       fs.writeFileSync(process.env.HOME + '/pids', String(child.pid)); child.unref(); answer('done');`,
    );
    expect(textOf(await ask(model))).toBe('done');
    await until(() => !pidsIn(folder).some(isAlive));
  });

  it('that prints without end is stopped at 4 MiB', async () => {
    const { model } = await createStandIn(
      'claude',
      "const line = 'x'.repeat(65536); const go = () => { while (process.stdout.write(line)); }; process.stdout.on('drain', go); go();",
    );
    expect(lastFailure(await ask(model))).toMatchObject({
      kind: 'upstream-error',
      message: expect.stringContaining('4 MiB'),
    });
  });

  it('may ignore a long prompt, and gets all of it when it reads it', async () => {
    const long = 'word '.repeat(400_000);
    const request: ChatRequest = {
      ...REQUEST,
      messages: [{ role: 'user', content: [{ type: 'text', text: long }] }],
    };
    const deaf = await createStandIn('claude', "answer('deaf')");
    expect(textOf(await ask(deaf.model, request))).toBe('deaf');
    const keen = await createStandIn('claude', 'answer(String(input().length))');
    expect(Number(textOf(await ask(keen.model, request)))).toBeGreaterThan(long.length);
  });

  it('whose folder cannot be created fails', async () => {
    const { model } = await createStandIn('claude', "answer('x')", { cwd: '/dev/null/nowhere' });
    expect(lastFailure(await ask(model)).kind).toBe('internal');
  });

  it('gets the basic variables and its own sign-in (not Instar’s environment), and only a configured base URL', async () => {
    const program = 'answer(JSON.stringify(process.env))';
    const ours = {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:4600',
      ANTHROPIC_AUTH_TOKEN: 'ours',
      INSTAR_KEY: 'ours',
    };
    const { model } = await createStandIn('claude', program, {
      env: { ...ours, HOME: '/x' },
    });
    const seen = JSON.parse(textOf(await ask(model)));
    expect(seen).toMatchObject({ HOME: '/x', CLAUDE_CODE_DISABLE_ATTACHMENTS: '1' });
    expect(JSON.stringify(seen)).not.toMatch(/ours|4600/);
    const given = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const other = await createStandIn('claude', program, { given });
    expect(JSON.parse(textOf(await ask(other.model)))).toMatchObject(given);
  });
});
