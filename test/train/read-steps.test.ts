import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readTrainingSteps } from '../../train/read-steps.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'steps-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a step is read with its loss, and one of an earlier version without it', async () => {
  const report = { seen: { reward: 0.5 }, end: { k1: 0.01, k2: 0.02, meanRatio: 1.1 } };
  const lines = [report, { ...report, loss: -0.25 }].map((one, version) =>
    JSON.stringify({ entry: { type: 'step-ended', checkpoint: { version }, report: one } }),
  );
  writeFileSync(path.join(folder, 'run.jsonl'), `${lines.join('\n')}\n`);
  const [old, now] = await readTrainingSteps(folder);
  expect(now).toMatchObject({ n: 2, outcome: 'trained', reward: 0.5, loss: -0.25, kl: 0.02, ratio: 1.1 });
  expect(old).toMatchObject({ n: 1, outcome: 'trained', reward: 0.5 });
  expect(old).not.toHaveProperty('loss');
});
