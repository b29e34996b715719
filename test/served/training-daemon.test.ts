import { expect, it, onTestFinished } from 'vitest';
import { runCli, startCli } from '../cli/run-cli.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { GRADING, recordTasks } from './record-tasks.ts';

it('instar train run uses the daemon, refuses a second concurrent run, and leaves the first running after Ctrl-C', async () => {
  const home = makeHome({ train: { batchSize: 16, groupSize: 8 }, learn: GRADING });
  const args = (...words: readonly string[]) => ['--home', home.dir, 'train', ...words];
  const daemon = await startDaemon(home.dir);
  onTestFinished(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    home.remove();
  });
  await recordTasks(daemon.port, daemon.key);
  const first = startCli(args('run', '--steps', '400'));
  await new Promise<void>((resolve) => {
    first.child.stderr?.on('data', (text: string) => {
      if (/step \d+ of 400/.test(text)) resolve();
    });
  });
  const second = await runCli(args('run'));
  expect(second.code).toBe(1);
  expect(second.stderr).toContain('running already\n→ see its progress with: instar train status');
  first.child.kill('SIGINT');
  expect((await first.ended()).stderr).toContain('the daemon continues');
  const { stdout } = await runCli(args('status', '--json'));
  expect(JSON.parse(stdout)).toMatchObject({ engineState: 'up', window: { steps: 400, isRunning: true } });
}, 60_000);
