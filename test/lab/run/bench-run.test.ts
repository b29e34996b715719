import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { predictedChance } from '../../../lab/policies/scripted-policy.ts';
import { loadBenchJournal } from '../../../lab/run/bench-journal.ts';
import type { QuestionRecord } from '../../../lab/suite/run-records.ts';
import { openBenchCli } from '../bench-cli.ts';

const HABITS = { obey: 0.9, unaided: 0.05, read: 0.6 };

const { home, bench } = openBenchCli();
const journalOf = (run: string) => {
  const journal = loadBenchJournal(path.join(home, 'bench', run, 'journal.jsonl'));
  if (journal === undefined) throw new Error(`no journal of ${run}`);
  return journal;
};

/** The fields that do not depend on time or on random ids. */
const gist = ({ day, question, score, passed, rules, broken, taught, lessons }: QuestionRecord) => ({
  ...{ day, question, score, passed, rules, broken, taught },
  shown: lessons.length,
});

const SMALL = ['run', 'workdays', '--seeds', '1', '--form', 'short'];

describe('instar bench run', { timeout: 180_000 }, () => {
  it('scores the oracle 100 % and the null policy 0 %', async () => {
    const oracle = await bench([
      ...SMALL,
      '--days',
      '1',
      '--policy',
      'oracle',
      '--condition',
      'baseline',
      '--json',
    ]);
    expect(oracle.code).toBe(0);
    expect(JSON.parse(oracle.stdout).conditions.baseline).toMatchObject({ accuracy: 1, completion: 1 });
    const none = await bench([
      ...SMALL,
      '--days',
      '1',
      '--policy',
      'null',
      '--condition',
      'baseline',
      '--json',
    ]);
    expect(JSON.parse(none.stdout).conditions.baseline).toMatchObject({ accuracy: 0, completion: 0 });
    expect(JSON.parse(none.stdout)).toMatchObject({ questions: 42, seeds: 1 });
  });

  it('continues after kill -9 with the interrupted day, with the same result', async () => {
    const args = [...SMALL, '--days', '3', '--only', 'house', '--condition', 'skills'];
    const whole = await bench([...args, '--run', 'whole']);
    expect(whole.code).toBe(0);
    const killed = await bench([...args, '--run', 'killed'], (line) => line.includes('day 2 of 3'));
    expect(killed.code).toBeNull();
    expect(journalOf('killed').rows).toHaveLength(17);
    const again = await bench([...args, '--run', 'killed', '--json']);
    expect(again.code).toBe(0);
    expect(journalOf('killed').rows.map(gist)).toEqual(journalOf('whole').rows.map(gist));
    for (const change of [
      ['--failures', '5'],
      ['--only', 'files'],
    ]) {
      const other = await bench([...args, '--run', 'killed', ...change]);
      expect(other.code).toBe(2);
      expect(other.stderr).toContain('started with other options');
    }
  });

  it('passes as many file tasks as the lessons in the prompts predict', () => {
    const files = journalOf('whole').rows.filter(({ kind }) => kind === 'files');
    const chances = files.map(({ rules, taught }) =>
      predictedChance(rules, new Set(taught), 'files', HABITS),
    );
    const predicted = chances.reduce((sum, chance) => sum + chance, 0);
    const deviation = Math.sqrt(chances.reduce((sum, chance) => sum + chance * (1 - chance), 0));
    const passed = files.filter((one) => one.passed === true).length;
    expect(files).toHaveLength(33);
    expect(files.filter(({ taught }) => taught.length > 0).length).toBeGreaterThan(11);
    expect(Math.abs(passed - predicted)).toBeLessThan(3.3 * deviation);
  });

  it('writes a self-contained page, and shows the same report again', async () => {
    const page = path.join(home, 'page.html');
    const shown = await bench(['report', 'whole', '--html', page]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('skills');
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('<svg');
    expect(html).not.toMatch(/src=|https?:\/\/(?!www\.w3\.org)/);
    const list = JSON.parse((await bench(['list', '--json'])).stdout);
    expect(list.runs.map(({ run }: { run: string }) => run)).toContain('whole');
  });

  it('asks only the selected questions, and says so', async () => {
    const asked = async (only: string) => {
      const { stdout } = await bench([
        ...SMALL,
        '--days',
        '1',
        '--condition',
        'baseline',
        '--only',
        only,
        '--json',
      ]);
      return JSON.parse(stdout);
    };
    const house = await asked('house');
    expect(house).toMatchObject({ questions: 17, conditions: { baseline: { asked: 17 } } });
    expect(house.remarks[0]).toContain('Only file tasks and questions on house rules');
    const files = await asked('files');
    expect(files).toMatchObject({ questions: 11, conditions: { baseline: { exact: null } } });
  });

  it('says how to fix options that cannot be run', async () => {
    const rows = [
      [['run', 'workdays', '--policy', 'nobody/knows'], 'provider/model'],
      [['run', 'workdays', '--condition', 'magic'], 'baseline, skills, full'],
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

  it('says that the condition full was not run, and why', async () => {
    const { stdout } = await bench([
      ...SMALL,
      '--days',
      '1',
      '--condition',
      'baseline,full',
      '--policy',
      'null',
      '--json',
    ]);
    expect(JSON.stringify(JSON.parse(stdout))).toContain('no weights that can be trained');
  });
});
