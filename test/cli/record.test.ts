import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { ROUTES, requestBody } from '../support/samples.ts';
import { runInProcess } from './run-cli.ts';

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon | undefined;
let turn = '';
const cli = (...args: string[]) => runInProcess([...args, '--home', home.dir]);
const json = async (...args: string[]) => JSON.parse((await cli(...args, '--json')).stdout);

async function stop(): Promise<void> {
  daemon?.child.kill('SIGTERM');
  await daemon?.exited;
  daemon = undefined;
}

beforeAll(async () => {
  home = makeHome({});
  daemon = await startDaemon(home.dir);
  for (const session of ['one', 'one', 'two']) {
    const headers = { 'x-instar-session': session, 'x-instar-agent': 'tester' };
    const answer = await ask(daemon.port, {
      path: ROUTES.anthropic,
      body: requestBody('anthropic', true),
      headers,
    });
    if (session === 'one') turn = String(answer.headers['x-instar-turn']);
  }
  await vi.waitFor(
    async () => expect((await json('sessions', 'show', 'two')).turns?.[0]?.status).toBe('complete'),
    { timeout: 100_000 },
  );
});
afterAll(async () => {
  await stop();
  home.remove();
});

it('a home is not restored while a daemon uses it (exit 3)', async () => {
  const file = path.join(home.dir, 'early.sqlite');
  expect((await cli('backup', file)).code).toBe(0);
  expect(await cli('restore', file)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('→ stop it first: instar stop'),
  });
  expect((await cli('up', '--port', '0')).code).toBe(3);
});

/** The same commands, answered by the daemon and without one. */
describe.each(['a running daemon', 'no daemon'])('with %s', (which) => {
  beforeAll(async () => {
    if (which === 'no daemon') await stop();
  });

  it('sessions list gives the shape that scripts rely on', async () => {
    const list = await json('sessions', 'list');
    expect(list.map(({ id, agent, turns }: Record<string, unknown>) => ({ id, agent, turns }))).toEqual(
      expect.arrayContaining([
        { id: 'one', agent: 'tester', turns: 2 },
        { id: 'two', agent: 'tester', turns: 1 },
      ]),
    );
    for (const { startedAt, lastAt } of list)
      expect(Date.parse(startedAt)).toBeLessThanOrEqual(Date.parse(lastAt));
    expect((await cli('sessions', 'list')).stdout).toContain('tester');
    expect(await json('sessions', 'list', '--agent', 'nobody')).toEqual([]);
  });

  it('sessions show gives turns with status, generation, policy, lessons and rewards', async () => {
    const shown = await json('sessions', 'show', 'one');
    expect(shown).toMatchObject({
      id: 'one',
      turns: [
        { status: 'complete', generation: 0, policy: 'instar/nano@0', lessons: [] },
        { id: turn, rewards: expect.any(Array) },
      ],
    });
    const unknown = await cli('sessions', 'show', 'nobody');
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.stderr).toContain('sessions list');
  });

  it('feedback is saved and shown', async () => {
    const before = (await json('sessions', 'show', 'one')).turns[1].rewards.length;
    expect(await json('feedback', turn, '--score', '-0.5', '--note', 'late')).toMatchObject({ ok: true });
    const rewards = (await json('sessions', 'show', 'one')).turns[1].rewards;
    expect(rewards).toHaveLength(before + 1);
    expect(rewards.at(-1)).toEqual({
      source: 'person',
      score: -0.5,
      note: 'late',
      at: expect.any(String),
    });
    expect((await cli('feedback', 't_nobody', '--score', '1')).code).toBe(1);
    expect((await cli('feedback', turn, '--score', '7')).code).toBe(2);
    expect((await cli('feedback', turn)).code).toBe(2);
  });

  it('export writes one line per session, to a new private file', async () => {
    const out = path.join(home.dir, `out-${which.length}.jsonl`);
    expect((await cli('export', 'trajectories', '--out', out)).code).toBe(0);
    const lines = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id).sort()).toEqual(['one', 'two']);
    expect(lines[0].turns[0].reply.content[0].text).toContain('run `instar init`');
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await cli('export', 'trajectories', '--out', out)).code).toBe(1);
  });

  it('backup copies everything into a new file', async () => {
    const file = path.join(home.dir, `backup-${which.length}.sqlite`);
    expect((await cli('backup', file)).code).toBe(0);
    expect(existsSync(file)).toBe(true);
    expect((await cli('backup', file)).code).toBe(1);
  });

  it('erase requires --yes', async () => {
    expect((await cli('sessions', 'erase', 'two')).code).toBe(2);
    expect(
      (await json('sessions', 'list')).find(({ id }: { id: string }) => id === 'two').erased,
    ).toBeUndefined();
  });
});

describe('a home that is not in use', () => {
  it('is restored from a complete backup; the previous record is kept beside it', async () => {
    await stop();
    const file = path.join(home.dir, 'good.sqlite');
    await cli('backup', file);
    expect(await json('sessions', 'erase', 'two', '--yes')).toMatchObject({ id: 'two', erased: 1 });
    const broken = path.join(home.dir, 'broken.sqlite');
    writeFileSync(broken, readFileSync(file).subarray(0, 20_000));
    expect((await cli('restore', broken)).code).toBe(1);
    expect((await json('sessions', 'show', 'two')).erased).toBe(true);
    expect((await cli('restore', file)).code).toBe(0);
    expect((await json('sessions', 'show', 'two')).erased).toBeUndefined();
    expect(existsSync(`${home.dir}/instar.sqlite.before-restore`)).toBe(true);
    expect((await cli('doctor')).stdout).toMatch(/ok +store +3 turns in 2 sessions/);
  });

  it('without a record lists nothing and creates nothing', async () => {
    const empty = makeHome({});
    const list = await runInProcess(['sessions', 'list', '--json', '--home', empty.dir]);
    expect(list).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(existsSync(`${empty.dir}/instar.sqlite`)).toBe(false);
    empty.remove();
  });
});
