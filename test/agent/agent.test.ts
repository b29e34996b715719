import { describe, expect, it, onTestFinished } from 'vitest';
import { type AgentTask, runAgent } from '../../src/agent/agent.ts';
import { createWorkspace } from '../../src/agent/sandbox/workspace.ts';
import { createPlainAgentShell, type Shell } from '../../src/agent/shell.ts';
import type { ChatMessage } from '../../src/core/chat.ts';
import { createFailure } from '../../src/core/failure.ts';
import { call, createScriptedSpeak, run, type ScriptedReply } from './scripted-speak.ts';

const openWorkspace = async () => {
  const workspace = await createWorkspace();
  onTestFinished(() => workspace.dispose());
  return workspace;
};

const createTask = (
  script: { readonly speak: AgentTask['speak'] },
  shell: Shell,
  more: Partial<AgentTask> = {},
): AgentTask => ({
  speak: script.speak,
  speaker: { session: 's', agent: 'a', runKind: 'test' },
  model: 'm',
  system: 'You keep the books.',
  history: [],
  prompt: 'Put it right.',
  shell,
  signal: new AbortController().signal,
  ...more,
});

/** A shell that remembers what it was given. */
const createEcho = () => {
  const seen: string[] = [];
  const shell: Shell = async (command) => {
    seen.push(command);
    return { code: 0, output: `ran ${command}` };
  };
  return { shell, seen };
};

const work = async (replies: readonly ScriptedReply[], more: Partial<AgentTask> = {}) => {
  const script = createScriptedSpeak(replies);
  const echo = createEcho();
  return { result: await runAgent(createTask(script, echo.shell, more)), seen: echo.seen, ...script };
};

const rolesOf = (messages: readonly ChatMessage[]) => messages.map(({ role }) => role).join(' ');
const textOf = (message: ChatMessage | undefined) =>
  (message?.content ?? []).map((part) => ('text' in part ? part.text : '')).join('');
const resultsOf = (messages: readonly ChatMessage[]) =>
  messages.filter(({ role }) => role === 'tool').map(textOf);

describe('an agent', () => {
  it('works in its folder until it answers, and gets the result of each command', async () => {
    const workspace = await openWorkspace();
    const script = createScriptedSpeak([
      {
        text: 'I write it.',
        calls: [run("write a.txt 'one\ntwo'")],
        usage: { inputTokens: 10, outputTokens: 2 },
      },
      {
        calls: [run('cat a.txt; cat b.txt')],
        usage: { inputTokens: 20, outputTokens: 3, cacheReadTokens: 7 },
      },
      { text: 'It is there.' },
    ]);
    const result = await runAgent(createTask(script, createPlainAgentShell(workspace)));
    expect(result).toMatchObject({ end: 'answered', answer: 'It is there.', steps: 3 });
    expect(result).not.toHaveProperty('failure');
    expect(await workspace.read('a.txt')).toBe('one\ntwo\n');
    expect(result.commands).toEqual([
      { command: "write a.txt 'one\ntwo'", code: 0, output: '' },
      {
        command: 'cat a.txt; cat b.txt',
        code: 2,
        output: expect.stringContaining('two\ncat: b.txt: no such file'),
      },
    ]);
    expect(rolesOf(result.messages)).toBe('user assistant tool assistant tool assistant');
    expect(resultsOf(result.messages)).toEqual([
      'Exit code: 0\n(nothing was printed)',
      expect.stringContaining('Exit code: 2\none\ntwo\ncat: b.txt'),
    ]);
    expect(script.requests.at(-1)?.messages).toEqual(result.messages.slice(0, -1));
    expect(result.usage).toEqual({ inputTokens: 30, outputTokens: 5, cacheReadTokens: 7 });
    expect(result.turns).toHaveLength(3);
  });

  it('gets its system prompt first, one tool, and the commands of the shell', async () => {
    const workspace = await openWorkspace();
    const script = createScriptedSpeak([{ text: 'ok' }]);
    const limits = { maxTokens: 77, temperature: 0.5 };
    await runAgent(createTask(script, createPlainAgentShell(workspace), { limits }));
    const [request] = script.requests;
    expect(request).toMatchObject({ model: 'm', maxTokens: 77, temperature: 0.5, stream: false });
    expect(request?.system).toHaveLength(1);
    expect(request?.system[0]?.text).toMatch(/^You keep the books\.\n\n[\s\S]*`done`/);
    expect(request?.tools.map(({ name }) => name)).toEqual(['run_command']);
    const unknown = await workspace.runPlain('nonsense', {});
    const known =
      unknown.end === 'exit' ? (unknown.stderr.split('the commands are ')[1] ?? '').trim().split(', ') : [];
    expect(known.length).toBeGreaterThan(12);
    for (const name of known) expect(request?.tools[0]?.description).toMatch(new RegExp(`\\b${name} `));
  });

  it('continues a conversation from task to task', async () => {
    const first = await work([{ calls: [run('ls')] }, { calls: [run('done')] }]);
    const second = await work([{ text: 'Yes.' }], { history: first.result.messages, prompt: 'And now?' });
    expect(rolesOf(second.requests[0]?.messages ?? [])).toBe('user assistant tool assistant tool user');
    expect(textOf(second.requests[0]?.messages.at(-1))).toBe('And now?');
    expect(second.result.messages.slice(0, -2)).toEqual(first.result.messages);
    expect(second.result).toMatchObject({ answer: 'Yes.', steps: 1, commands: [] });
  });

  it('keeps its last text as the answer when it ends with a call without text', async () => {
    const { result } = await work([
      { text: 'It is \\bbox{A}.', calls: [run('ls')] },
      { calls: [run('done')] },
    ]);
    expect(result).toMatchObject({ end: 'done', answer: 'It is \\bbox{A}.' });
  });

  it('passes on isLast with its last step, not before', async () => {
    const speaker = { session: 's', agent: 'a', runKind: 'test', isLast: true };
    const { speakers } = await work([{ calls: [run('a')] }, { calls: [run('b')] }], {
      speaker,
      limits: { steps: 2 },
    });
    expect(speakers.map(({ isLast }) => isLast)).toEqual([false, true]);
  });
});

describe('done', () => {
  it.each([
    ['done', []],
    ['ls\ndone\n', ['ls']],
    ['ls -a; cat x\necho y\n done', ['ls -a; cat x\necho y']],
    ['ls && done', ['ls ']],
  ])('%j ends the task, after %j', async (command, ran) => {
    const { result, seen, requests } = await work([{ calls: [run(command)] }, { text: 'never asked' }]);
    expect(result).toMatchObject({ end: 'done', steps: 1, answer: '' });
    expect(seen).toEqual(ran);
    expect(requests).toHaveLength(1);
    expect(rolesOf(result.messages)).toBe('user assistant tool');
    expect(textOf(result.messages.at(-1))).not.toBe('');
  });

  it('leaves later calls of the reply unrun, each with a result that says so', async () => {
    const { result, seen } = await work([{ calls: [run('a'), run('b\ndone'), run('c'), call('x', '')] }]);
    expect(seen).toEqual(['a', 'b']);
    expect(result.end).toBe('done');
    expect(resultsOf(result.messages).slice(2)).toEqual([
      'Not run: the task was already ended by `done`.',
      'Not run: the task was already ended by `done`.',
    ]);
  });

  it('counts when the lines before it fail, but not after && or when they were refused', async () => {
    const workspace = await openWorkspace();
    const shell = createPlainAgentShell(workspace);
    const script = createScriptedSpeak([
      { calls: [run('cat nothing && done')] },
      { calls: [run('write a.json {}\ndone')] },
      { calls: [run('cat nothing\ndone')] },
    ]);
    const result = await runAgent(createTask(script, shell));
    expect(result).toMatchObject({ end: 'done', steps: 3 });
    const [failed, refused, ended] = resultsOf(result.messages);
    expect(failed).toContain('`done` did not count: what stands before its && failed');
    expect(refused).toMatch(/^Exit code: 126\nNot run: \{ is not supported[\s\S]*`done` did not count/);
    expect(ended).toMatch(/^Exit code: 2\ncat: nothing/);
    expect(result.commands.map(({ code }) => code)).toEqual([2, 126, 2]);
    expect(result.commands[1]?.refused).toContain('single quotes');
  });
});

describe('calls', () => {
  it('of one reply are run in order, one after another', async () => {
    const log: string[] = [];
    const shell: Shell = async (command) => {
      log.push(`begin ${command}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`end ${command}`);
      return { code: 0, output: command };
    };
    const script = createScriptedSpeak([{ calls: [run('a'), run('b'), run('c')] }, { text: 'ok' }]);
    const result = await runAgent(createTask(script, shell));
    expect(log).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']);
    expect(rolesOf(result.messages)).toBe('user assistant tool tool tool assistant');
    expect(resultsOf(result.messages)).toEqual(['a', 'b', 'c'].map((text) => `Exit code: 0\n${text}`));
  });

  it.each([
    ['no JSON', call('run_command', 'ls -la'), 'Invalid arguments for run_command: they are not JSON.'],
    ['cut off', call('run_command', '{"command": "wri'), 'they are not JSON and seem to be cut off'],
    ['not an object', call('run_command', '"ls"'), 'they are not an object'],
    ['a list', call('run_command', '["ls"]'), 'they are not an object'],
    ['nothing', call('run_command', ''), '"command" is missing'],
    ['another name', call('run_command', '{"cmd": "ls"}'), '"command" is missing'],
    ['no string', call('run_command', '{"command": ["ls"]}'), '"command" is not a string'],
    ['blank', call('run_command', '{"command": " \\n"}'), '"command" is empty'],
    [
      'unknown tool',
      call('read_file', '{"path": "x"}'),
      'Unknown tool "read_file": the only one is run_command. Call',
    ],
    ['done as a tool', call('done', '{}'), 'call run_command with {"command": "done"}'],
  ])('that are malformed (%s) get a message and run nothing; the task goes on', async (_, bad, told) => {
    const { result, seen } = await work([{ calls: [bad, run('ls')] }, { text: 'ok' }]);
    expect(result).toMatchObject({ end: 'answered', steps: 2 });
    expect(seen).toEqual(['ls']);
    expect(resultsOf(result.messages)[0]).toContain(told);
    expect(result.messages[2]).toMatchObject({ role: 'tool', isError: true });
  });

  it('with ids, names or arguments that servers reject are kept in a form that they accept', async () => {
    const calls = [
      call('run_command', '{"command":"a"}', 'c'),
      call('run_command', '{"command":"b"}', 'c'),
      call('functions.run_command', 'oops', ''),
      call('', '[]', 'c.2'),
    ];
    const { result } = await work([
      { calls },
      { calls: [call('run_command', '{"command":"d"}', 'c')] },
      { text: 'ok' },
    ]);
    const kept = result.messages.flatMap((message) =>
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
        : [],
    );
    expect(kept).toEqual([
      call('run_command', '{"command":"a"}', 'c'),
      call('run_command', '{"command":"b"}', 'c_2'),
      call('functions_run_command', '{"malformed_arguments":"oops"}', 'call'),
      call('unnamed', '{"malformed_arguments":"[]"}', 'c.2_2'),
      call('run_command', '{"command":"d"}', 'c_3'),
    ]);
    const answered = result.messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
    expect(answered).toEqual(kept.map(({ id }) => id));
    expect(result.commands.map(({ command }) => command)).toEqual(['a', 'b', 'd']);
  });

  it('with a long output show its beginning and end, and how much is missing', async () => {
    const output = `START${'é'.repeat(50_000)}😀END`;
    const shell: Shell = async () => ({ code: 1, output });
    const script = createScriptedSpeak([{ calls: [run('x')] }, { text: 'ok' }]);
    const result = await runAgent(createTask(script, shell, { limits: { outputCharacters: 100 } }));
    const [shown = ''] = resultsOf(result.messages);
    expect(shown).toMatch(
      /^Exit code: 1\nSTARTé+\n\[\.\.\. 49910 of 50010 characters left out \.\.\.\]\né+😀END$/,
    );
    expect(result.commands[0]?.output).toBe(output);
  });

  it('get a result when the shell rejects', async () => {
    const shell: Shell = () => Promise.reject(new Error('no room'));
    const result = await runAgent(
      createTask(createScriptedSpeak([{ calls: [run('x')] }, { text: 'ok' }]), shell),
    );
    expect(result).toMatchObject({
      end: 'answered',
      commands: [{ code: 1, output: 'The shell failed: no room' }],
    });
  });
});

describe('a task ends', () => {
  it('at the limit of steps, with the last calls run', async () => {
    const { result, requests, seen } = await work(
      Array.from({ length: 9 }, (_, nth) => ({ calls: [run(`c${nth}`)] })),
      { limits: { steps: 3 } },
    );
    expect(result).toMatchObject({ end: 'steps', steps: 3 });
    expect(requests).toHaveLength(3);
    expect(seen).toEqual(['c0', 'c1', 'c2']);
    expect(rolesOf(result.messages)).toBe('user assistant tool assistant tool assistant tool');
  });

  it('after twenty steps by default', async () => {
    const { result } = await work(Array.from({ length: 30 }, () => ({ calls: [run('x')] })));
    expect(result).toMatchObject({ end: 'steps', steps: 20 });
  });

  it('as answered by an empty reply, which is not kept', async () => {
    const { result } = await work([{}]);
    expect(result).toMatchObject({ end: 'answered', answer: '', steps: 1 });
    expect(rolesOf(result.messages)).toBe('user');
  });

  it('as failed when the model fails, with all messages so far; the next prompt is appended to the unanswered one', async () => {
    const failure = createFailure('overloaded', 'busy');
    const { result } = await work([{ text: 'half', failure, calls: [run('rm -r .')], turn: 't_9' }]);
    expect(result).toMatchObject({ end: 'failed', failure, steps: 0, answer: '', turns: [{ turn: 't_9' }] });
    expect(rolesOf(result.messages)).toBe('user');
    const next = await work([{ text: 'ok' }], { history: result.messages, prompt: 'Again.' });
    expect(rolesOf(next.result.messages)).toBe('user assistant');
    expect(next.result.messages[0]?.content).toMatchObject([{ text: 'Put it right.' }, { text: 'Again.' }]);
    const later = await work([{ text: 'a', calls: [run('x')] }, { failure }]);
    expect(later.result).toMatchObject({
      end: 'failed',
      answer: 'a',
      steps: 1,
      commands: [{ command: 'x' }],
    });
    expect(rolesOf(later.result.messages)).toBe('user assistant tool');
  });

  it('as failed when `speak` rejects', async () => {
    const { shell } = createEcho();
    const result = await runAgent(createTask({ speak: () => Promise.reject(new Error('boom')) }, shell));
    expect(result).toMatchObject({ end: 'failed', failure: { kind: 'internal', message: 'boom' } });
  });

  it('at once when it is aborted before it began, without a request', async () => {
    const { result, requests } = await work([{ text: 'no' }], { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ end: 'aborted', steps: 0 });
    expect(requests).toHaveLength(0);
  });

  it('at once when it is aborted while a model does not react to the signal', async () => {
    const leaving = new AbortController();
    const { shell } = createEcho();
    const speak = () => {
      setImmediate(() => leaving.abort());
      return new Promise<never>(() => undefined);
    };
    const result = await runAgent(createTask({ speak }, shell, { signal: leaving.signal }));
    expect(result).toMatchObject({ end: 'aborted', steps: 0, turns: [] });
  });

  it('at once when it is aborted in a command that does not react; every call still has its result', async () => {
    const leaving = new AbortController();
    const shell: Shell = async (command) => {
      if (command !== 'hang') return { code: 0, output: '' };
      setImmediate(() => leaving.abort());
      return new Promise<never>(() => undefined);
    };
    const script = createScriptedSpeak([{ calls: [run('a'), run('hang\ndone'), run('c')] }]);
    const result = await runAgent(createTask(script, shell, { signal: leaving.signal }));
    expect(result).toMatchObject({ end: 'aborted', steps: 1 });
    expect(result.commands).toEqual([
      { command: 'a', code: 0, output: '' },
      { command: 'hang', code: 130, output: '' },
    ]);
    expect(resultsOf(result.messages).slice(1)).toEqual([
      'Stopped: the task was ended while this ran.',
      'Not run: the task was stopped.',
    ]);
  });
});
