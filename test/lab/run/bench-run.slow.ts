import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadBenchJournal } from '../../../lab/suites/bench-journal.ts';
import type { QuestionRecord } from '../../../lab/suites/run-records.ts';
import { predictedChance } from '../../../lab/suites/scripted-policy.ts';
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

const SMALL = ['run', 'workdays', '--seeds', '1'];

describe('instar lab bench run, three days', { timeout: 600_000 }, () => {
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
});
