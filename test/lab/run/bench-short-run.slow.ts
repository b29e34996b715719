import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadBenchJournal } from '../../../lab/suites/bench-journal.ts';
import { openBenchCli } from '../bench-cli.ts';

const { home, bench } = openBenchCli();
const journalOf = (run: string) => {
  const journal = loadBenchJournal(path.join(home, 'bench', run, 'journal.jsonl'));
  if (journal === undefined) throw new Error(`no journal of ${run}`);
  return journal;
};

const SMALL = ['run', 'workdays', '--seeds', '1'];

/** One short day: what a run does is the same in each. `bench-run.slow.ts` runs more days, and kills a run. */
describe('instar lab bench run', { timeout: 180_000 }, () => {
  it('scores the oracle 100 % in the questions that were selected, and says which they were', async () => {
    const args = ['--days', '1', '--only', 'house', '--policy', 'oracle', '--condition', 'baseline'];
    const { code, stdout } = await bench([...SMALL, ...args, '--json']);
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ questions: 17, seeds: 1 });
    expect(report.conditions.baseline).toMatchObject({ asked: 17, accuracy: 1, completion: 1 });
    expect(report.remarks[0]).toContain('Only file tasks and questions on house rules');
  });

  it('scores the null policy 0 %', async () => {
    const args = ['--days', '1', '--only', 'files', '--policy', 'null', '--condition', 'baseline'];
    const { stdout } = await bench([...SMALL, ...args, '--json']);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ questions: 11, conditions: { baseline: { completion: 0, exact: null } } });
  });

  it('refuses the condition full for a policy that cannot train, and names one that can (not leaving it out)', async () => {
    const args = ['--days', '1', '--policy', 'null', '--condition', 'baseline,full'];
    const { code, stderr } = await bench([...SMALL, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('none that can be trained')]);
    expect(stderr).toContain('--policy nano');
  });

  it('writes every question of a named run to its journal, and refuses to continue it with other options', async () => {
    const args = [...SMALL, '--days', '1', '--only', 'files', '--condition', 'skills'];
    const whole = await bench([...args, '--run', 'whole']);
    expect(whole.code).toBe(0);
    expect(journalOf('whole').rows).toHaveLength(11);
    const other = await bench([...args, '--run', 'whole', '--failures', '5']);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('started with other options');
  });

  it('keeps the whole report as Markdown, and shows it again', async () => {
    const shown = await bench(['report', 'whole', '--details']);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('### Recall');
    expect(readFileSync(path.join(home, 'bench/whole/report.md'), 'utf8')).toContain('### Recall');
    const list = JSON.parse((await bench(['list', '--json'])).stdout);
    expect(list.runs.map(({ run }: { run: string }) => run)).toContain('whole');
  });

  it('says how to fix options that cannot be run', async () => {
    const rows = [
      [['run', 'workdays', '--policy', 'nobody/knows'], 'provider/model'],
      [['run', 'workdays', '--condition', 'magic'], 'baseline, notes, all-lessons, skills'],
      [['run', 'workdays', '--rules', '/nowhere.json'], 'house, other'],
      [['run', 'metaclaw'], '--data'],
      [['run', 'workdays', '--obey', '2'], '0 to 1'],
      [['report', 'nothing'], 'bench list'],
    ] as const;
    for (const [args, fix] of rows) {
      const { code, stderr } = await bench(args);
      expect(code, args.join(' ')).toBeGreaterThan(0);
      expect(stderr, args.join(' ')).toContain(fix);
    }
  });
});
