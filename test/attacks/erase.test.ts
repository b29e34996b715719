import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli, runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 40_000, interval: 250 };
/** Words that occur nowhere else in the home. */
const CANARIES = ['zanzibarian', 'quokkaledger', 'okapifund'];
const NOTE = `Put the unit behind every amount of the ${CANARIES.join(' ')}, such as 12.50 EUR.`;

const SKILL = {
  name: 'quokkaledger-units',
  description: 'When you write amounts of the quokkaledger into a report.',
  content: [
    '1. Find every amount in what you write.',
    NOTE,
    '3. Read the file once more before you say that you are done.',
    'Example: 12.50 EUR',
    'Anti-pattern: a bare 12.50, which nobody can book.',
  ].join('\n'),
  category: 'productivity',
};

const chatReply = (content: string): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
  });

const streamed = (content: string): string =>
  `data: ${JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }],
  })}\n\ndata: [DONE]\n\n`;

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
const env = { TEACHER_KEY: 'k-teacher-000000' };

beforeEach(async () => {
  provider = await startProvider((request, response) => {
    const body = JSON.parse(request.body.toString() || '{}');
    const content = body.model === 'teacher' ? JSON.stringify([SKILL]) : 'I wrote the report.';
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' });
    response.end(body.stream ? streamed(content) : chatReply(content));
  });
  home = makeHome({
    providers: {
      caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      own: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'TEACHER_KEY', models: ['teacher'] },
    },
    models: { evolver: 'own/teacher' },
    learn: { failures: 3, budget: { usdPerDay: 10_000 } },
  });
  daemon = await startDaemon(home.dir, [], env);
});
afterEach(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const cli = (...args: readonly string[]) => runCli([...args, '--home', home.dir], env);
const json = async (...args: readonly string[]) => JSON.parse((await cli(...args, '--json')).stdout);

const turn = async (session: string, task: string): Promise<string> => {
  const body = JSON.stringify({ model: 'caller/m', messages: [{ role: 'user', content: task }] });
  const headers = { 'x-instar-session': session, 'x-instar-agent': 'alice', 'x-instar-key': daemon.key };
  const { headers: head } = await ask(daemon.port, { path: '/v1/chat/completions', body, headers });
  return String(head['x-instar-turn']);
};

/** Files of the home that contain a canary, with the word. */
function findCanaries(dir = home.dir): readonly string[] {
  return readdirSync(dir).flatMap((name) => {
    const file = path.join(dir, name);
    if (statSync(file).isDirectory()) return findCanaries(file);
    const bytes = readFileSync(file, 'latin1');
    return CANARIES.filter((word) => bytes.includes(word)).map((word) => `${file}: ${word}`);
  });
}

/** A lesson that a model wrote is on trial first. */
const IN_USE = expect.stringMatching(/^(?:trial|live)$/);

/** A lesson that was learned from the sessions `a`, `b` and `c`, shown to `d`, copied to snapshots. */
async function learn(): Promise<void> {
  const turns: string[] = [];
  for (const session of ['a', 'b', 'c'])
    turns.push(await turn(session, 'Write the quokkaledger amounts into report.md'));
  await vi.waitFor(async () => {
    for (const id of turns) expect((await json('lessons', 'why', id)).turn).toBe(id);
  }, SOON);
  // A note is learned from at once: it comes last, so that the lesson rests on all three sessions.
  for (const id of turns.slice(0, -1)) await cli('feedback', id, '--score', '-1');
  await cli('feedback', turns.at(-1) ?? '', '--score', '-1', '--note', NOTE);
  await vi.waitFor(async () => {
    expect(await json('lessons', 'list')).toMatchObject([{ name: 'quokkaledger-units', state: IN_USE }]);
  }, SOON);
  await turn('d', 'Write the invoice amounts of May into report.md');
  await vi.waitFor(() => {
    expect(existsSync(path.join(home.dir, 'skills', 'quokkaledger-units', 'SKILL.md'))).toBe(true);
  }, SOON);
  mkdirSync(path.join(home.dir, 'snapshots'), { recursive: true, mode: 0o700 });
  await cli('backup', path.join(home.dir, 'snapshots', '2026-01-01T00-00-00-000Z.sqlite'));
  const where = findCanaries().join('\n');
  for (const part of ['instar.sqlite', 'skills/', 'snapshots/']) expect(where).toContain(part);
}

const stop = async (): Promise<void> => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
};

describe('erasing a session', () => {
  it('(7) leaves none of its words in any file of the home (a lesson kept them)', async () => {
    await learn();
    const first = await json('sessions', 'erase', 'a', '--yes');
    expect(first).toMatchObject({
      erased: 1,
      lessons: { retired: [] },
      // The copy of this test, and the daily one if it was made in time.
      copies: expect.any(Number),
    });
    expect(await json('lessons', 'list')).toMatchObject([{ name: 'quokkaledger-units', state: IN_USE }]);
    await json('sessions', 'erase', 'b', '--yes');
    const { stdout } = await cli('sessions', 'erase', 'c', '--yes');
    expect(stdout).toContain('Erased session c (1 turn)');
    expect(stdout).toContain('Dropped 1 lesson that rested on it alone: "quokkaledger-units".');
    expect(stdout).toMatch(/Erased it from [12] cop(?:y|ies) of the record\./);
    expect(findCanaries()).toEqual([]);
    expect(await json('lessons', 'list')).toEqual([]);
    // What the daemon still has in memory does not come back.
    await turn('d', 'Write the invoice amounts of June into report.md');
    await turn('e', 'Write the invoice amounts of June into report.md');
    await stop();
    expect(findCanaries()).toEqual([]);
    expect((await cli('doctor', '--json')).stdout).not.toContain('does not match its hash');
    daemon = await startDaemon(home.dir, [], env);
    await vi.waitFor(async () => expect((await json('status')).library.unreadable).toBe(0), SOON);
    expect(findCanaries()).toEqual([]);
  }, 180_000);

  it('(7) does the same without a daemon', async () => {
    await learn();
    await stop();
    for (const session of ['a', 'b', 'c']) await json('sessions', 'erase', session, '--yes');
    expect(findCanaries()).toEqual([]);
    expect(existsSync(path.join(home.dir, 'skills', 'quokkaledger-units'))).toBe(false);
    daemon = await startDaemon(home.dir, [], env);
    expect(await json('lessons', 'list')).toEqual([]);
  }, 180_000);

  it('(7) keeps a lesson that a person approved, without the quotes', async () => {
    await learn();
    const approval = ['lessons', 'approve', 'quokkaledger-units', '--home', home.dir];
    await runInProcess(approval, env, { keys: ['y'] });
    for (const session of ['a', 'b', 'c']) await json('sessions', 'erase', session, '--yes');
    const lesson = await json('lessons', 'show', 'quokkaledger-units');
    expect(lesson).toMatchObject({ state: 'live', evidence: { turns: [], quotes: [] } });
    expect(lesson.note.context).toBeUndefined();
  }, 180_000);
});
