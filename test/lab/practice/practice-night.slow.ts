import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PRACTICE_ARMS } from '../../../lab/measure/practice/arms.ts';
import { measureSeed } from '../../../lab/measure/practice/measure-seed.ts';
import { reportPractice } from '../../../lab/measure/practice/practice-report.ts';
import { createSharedEmbed } from '../../../lab/suites/shared-embed.ts';

vi.setConfig({ testTimeout: 600_000 });

it('a tiny night with nano trains weights and publishes quoted lessons, and measures every arm on the same tasks', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-practice-night-'));
  const embed = createSharedEmbed();
  onTestFinished(async () => {
    await embed.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const quiet = (): void => undefined;
  const size = {
    tasks: 8,
    groupSize: 6,
    batch: 4,
    report: 4,
    gate: 6,
    pairs: 2,
    trialAttempts: 1_000,
    bare: 1,
  };
  const result = await measureSeed({
    seed: 1,
    size,
    folder,
    embed,
    log: { info: quiet, debug: quiet, warn: quiet, error: quiet },
    say: quiet,
    signal: new AbortController().signal,
  });
  const { night, trials, rows } = result;
  expect(night.groups).toBe(8);
  expect(night.kept).toBeGreaterThan(0);
  expect(Math.max(...night.trained.map(({ version }) => version))).toBeGreaterThan(0);

  // Every line of every lesson is one that a check said.
  expect(night.lessons.length).toBeGreaterThan(0);
  const noted = night.notes.section();
  for (const { text } of night.lessons)
    for (const line of text.content.split('\n')) expect(noted).toContain(line);

  const tasksOf = (arm: string) => rows.filter((row) => row.arm === arm).map(({ task }) => task);
  for (const arm of PRACTICE_ARMS) expect(tasksOf(arm)).toEqual(tasksOf('baseline'));
  expect(tasksOf('baseline')).toHaveLength(4);
  const shownBy = (arm: string) => rows.filter((row) => row.arm === arm).map(({ shown }) => shown);
  expect(Math.max(...shownBy('semantic'))).toBeGreaterThan(0);
  for (const arm of ['baseline', 'weights', 'same tokens']) expect(Math.max(...shownBy(arm))).toBe(0);
  expect(new Set(shownBy('tips'))).toEqual(new Set([night.lessons.length]));
  expect([...trials.verdicts.keys()].sort()).toEqual(night.lessons.map(({ id }) => id).sort());

  const report = reportPractice({ results: [result], size, place: 'a test' });
  for (const arm of PRACTICE_ARMS) expect(report).toContain(`| ${arm} |`);
});
