import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBenchJournal } from '../../../lab/suites/bench-journal.ts';
import { createTemporaryFolder, startCli } from '../../cli/run-cli.ts';
import { type ForeignEngine, startForeignEngine } from '../../support/foreign-engine.ts';

let engine: ForeignEngine;
const { dir: home, remove } = createTemporaryFolder();
beforeAll(async () => {
  engine = await startForeignEngine();
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ train: { engine: engine.entry } }));
});
afterAll(async () => {
  await engine.close();
  remove();
});

const bench = (...args: readonly string[]) =>
  startCli(['lab', 'bench', ...args, '--home', home], { HOME: home, ...engine.env }).ended();

describe('a benchmark of the model that train.engine names', { timeout: 600_000 }, () => {
  it('asks it in its own chat template, and makes and grades a batch for training at night', async () => {
    const size = ['--seeds', '1', '--days', '2', '--only', 'files', '--night-steps', '1'];
    const { code, stderr } = await bench(
      ...['run', 'workdays', '--policy', 'instar/small-1', '--run', 'foreign', '--steps', '1'],
      ...['--condition', 'baseline,full,full-oracle', ...size],
    );
    expect([code, stderr.includes('error')], stderr).toEqual([0, false]);
    const journal = loadBenchJournal(path.join(home, 'bench', 'foreign', 'journal.jsonl'));
    expect(journal?.head).toMatchObject({ policy: 'instar/small-1', options: { nightSteps: 1 } });
    const rows = journal?.rows ?? [];
    expect(rows).toHaveLength(3 * (journal?.head.questions ?? 0));
    // Random weights do nothing well; every question was answered by them, in tokens of their own.
    expect(rows.every(({ outputTokens }) => outputTokens > 0)).toBe(true);
    const nights = new Map(journal?.nights.map((night) => [night.condition, night]));
    expect([...nights.keys()]).toEqual(['full', 'full-oracle']);
    // A batch of attempts was made and graded by the suite's checks.
    expect(nights.get('full-oracle')).toMatchObject({ first: { reward: expect.any(Number) } });
  });

  it('names what is missing for a model without a chat template, or another one than that in training', async () => {
    const other = await bench('run', 'workdays', '--policy', 'instar/large-9', '--condition', 'full');
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('instar/small-1')]);
    const { tokenizer: _, ...bare } = engine.entry;
    writeFileSync(path.join(home, 'config.json'), JSON.stringify({ train: { engine: bare } }));
    const { code, stderr } = await bench('run', 'workdays', '--policy', 'instar/small-1');
    expect([code, stderr]).toEqual([2, expect.stringContaining('train.engine.tokenizer')]);
  });
});
