import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, startCli } from '../cli/run-cli.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { GRADING, LARGEST_EFFECT, recordHeldOut, recordTasks } from './record-tasks.ts';

const home = makeHome({
  train: { effect: LARGEST_EFFECT },
  learn: GRADING,
});
const args = (...words: readonly string[]) => ['--home', home.dir, 'train', ...words];
let daemon: RunningDaemon;
beforeAll(async () => {
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
});

it('instar train run trains nothing that too few held-out tasks could measure, and says how many are needed', async () => {
  await recordTasks(daemon.port, daemon.key);
  const { code, stdout } = await runCli(args('run', '--steps', '1'));
  expect([code, stdout.replaceAll(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringMatching(
      /^Nothing was trained\. \d+ tasks.* About 2\d tasks needed to show an improvement of 90 points, \d there: not trained\./,
    ),
  ]);
  expect(existsSync(path.join(home.dir, 'train'))).toBe(false);
  const status = (await runCli(args('status'), { COLUMNS: '400' })).stdout;
  expect(status).toMatch(/about 2\d tasks needed .* \d there: not trained.*train\.effect/);
  expect(status).toMatch(/runs +once one of the missing things is there/);
  expect(status).toMatch(/costs +nothing/);
});

it('instar train run uses the daemon, refuses a second concurrent run, and leaves the first running after Ctrl-C', async () => {
  await recordHeldOut(daemon.port, daemon.key);
  const first = startCli(args('run', '--steps', '400'));
  await new Promise<void>((resolve) => {
    first.child.stderr?.on('data', (text: string) => {
      if (/training, \d+ of 400/.test(text)) resolve();
    });
  });
  const second = await runCli(args('run'));
  expect(second.code).toBe(1);
  expect(second.stderr).toContain('running already\n→ see its progress with: instar train status');
  first.child.kill('SIGINT');
  expect((await first.ended()).stderr).toContain('the daemon continues');
  const { stdout } = await runCli(args('status', '--json'));
  expect(JSON.parse(stdout)).toMatchObject({ engineState: 'up', window: { steps: 400, isRunning: true } });
});
