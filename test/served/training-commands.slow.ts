import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli, startCli } from '../cli/run-cli.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { GRADING, LARGEST_EFFECT, recordHeldOut, recordTasks } from './record-tasks.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const run of undo.splice(0).reverse()) await run();
});
const open = (train: object = {}, learn: object = {}) => {
  const home = makeHome({ train, learn });
  undo.push(home.remove);
  const args = (...words: readonly string[]) => ['--home', home.dir, 'train', ...words];
  return { home, run: (...words: readonly string[]) => runCli(args(...words)), args };
};

/** A home in which a daemon has recorded tasks that can be trained on. */
const openRecorded = async () => {
  const opened = open({ effect: LARGEST_EFFECT }, GRADING);
  const daemon = await startDaemon(opened.home.dir);
  await recordTasks(daemon.port, daemon.key);
  await recordHeldOut(daemon.port, daemon.key);
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  return opened;
};

describe('instar train, without a daemon', () => {
  it('shows the engine, the policy, the generation and the buffer before anything was trained', async () => {
    const { run, home } = open();
    const { code, stdout } = await run('status', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      engine: 'nano',
      engineState: 'idle',
      policy: 'instar/nano@0',
      generation: 0,
      buffer: { query: 0, support: 0 },
    });
    expect(existsSync(path.join(home.dir, 'instar.sqlite'))).toBe(false);
  });

  it('says that there are no tasks, and which setting brings some, where nothing can be graded', async () => {
    const { run } = open();
    const { code, stdout } = await run('run', '--steps', '1');
    expect(code).toBe(1);
    expect(stdout).toContain('Nothing was trained. Too little to train on: 0 tasks');
    expect(stdout).toContain('learn.verifiers');
  });

  it('trains with an engine of its own, and prints one document at the end', async () => {
    const { run } = await openRecorded();
    const { code, stdout, stderr } = await run('run', '--steps', '1', '--json');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      engine: 'nano',
      window: { steps: 1, done: 1, isRunning: false },
    });
  });

  it('names the fix when nothing can move, and when training is off', async () => {
    const { run } = open();
    const promoted = await run('promote');
    expect(promoted).toMatchObject({ code: 1, stdout: '' });
    expect(promoted.stderr).toContain('Only a person at a terminal can confirm this.');
    expect((await run('rollback')).stderr).toContain(
      'no weights are on trial, and there are no previous weights',
    );
    const { run: off, home } = open({ engine: 'off' });
    for (const command of ['run', 'rollback']) {
      const refused = await off(command);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`set train.engine to "nano", or to a server, in ${home.dir}`);
    }
    expect((await run('run', '--steps', '0')).code).toBe(2);
  });

  it('pauses at Ctrl-C, says that it can be continued, and continues', async () => {
    const { run, args, home } = await openRecorded();
    const cli = startCli(args('run', '--steps', '500'));
    let seen = '';
    await new Promise<void>((resolve) => {
      cli.child.stderr?.on('data', (text: string) => {
        seen += text;
        if (/training, [1-9]\d* of 500/.test(seen)) resolve();
      });
    });
    cli.child.kill('SIGINT');
    const { code, stderr } = await cli.ended();
    expect(code).toBe(130);
    expect(stderr).toContain('paused; continue with: instar train run');
    const journal = path.join(home.dir, 'train', 'nano', 'run-1.jsonl');
    const batches = () =>
      new Set(readFileSync(journal, 'utf8').match(/"type":"step-ended","batch":"[^"]+"/g));
    const before = batches();
    expect(before.size).toBeGreaterThan(0);
    expect((await run('run', '--steps', '1')).code).toBe(0);
    expect(batches().size).toBe(before.size + 1);
  });
});
