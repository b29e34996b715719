import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMetaclaw, type MetaclawSuite } from '../../../lab/suites/metaclaw/load-metaclaw.ts';
import { readChoice, scoreChoice } from '../../../lab/suites/score-choice.ts';
import type { ChoiceQuestion, FileQuestion, SuiteDay, TaskVerdict } from '../../../lab/suites/suite.ts';
import { never, root, sets, textsOf, withFiles } from './place.ts';

const why =
  sets.length > 0 ? '' : ' (skipped: set INSTAR_BENCH_DATA to a folder that holds part1/ and small/)';
const oracle = path.join(root, 'lab/suites/metaclaw/small-oracle.json');

function load(name: 'part1' | 'small'): Promise<MetaclawSuite> {
  const set = sets.find((one) => one.name === name);
  if (set === undefined) throw new Error(`the data has no ${name}/: fetch it again`);
  return loadMetaclaw({ folder: set.folder, ...(name === 'small' && { oracle }) });
}

const choicesOf = (suite: MetaclawSuite): readonly ChoiceQuestion[] =>
  suite.days.flatMap(({ questions }) => questions).filter((question) => question.kind === 'choice');
const tasksOf = (day: SuiteDay): readonly FileQuestion[] =>
  day.questions.filter((question) => question.kind === 'files');

/** Each file check of a day in a workspace that nobody touched. */
const gradeUntouched = (day: SuiteDay): Promise<readonly TaskVerdict[]> =>
  withFiles(textsOf(day), async (workspace) => {
    const verdicts: TaskVerdict[] = [];
    for (const task of tasksOf(day)) verdicts.push(await task.check(workspace, never));
    return verdicts;
  });

describe.skipIf(sets.length === 0)(`the published data${why}`, () => {
  it.each([
    ['part1', 15, 111, 59, { A: 56, B: 57, C: 57 }, 0],
    ['small', 12, 36, 25, { A: 10, B: 10, C: 10, D: 10, E: 10, F: 11 }, 4],
  ] as const)('is understood whole: %s', async (name, days, tasks, choices, arcs, notes) => {
    const suite = await load(name);
    expect(suite.days).toHaveLength(days);
    expect(suite.days.flatMap(tasksOf)).toHaveLength(tasks);
    expect(choicesOf(suite)).toHaveLength(choices);
    const byArc: Record<string, number> = {};
    for (const { arc = '', questions } of suite.days) byArc[arc] = (byArc[arc] ?? 0) + questions.length;
    expect(byArc).toEqual(arcs);
    expect(suite.notes).toHaveLength(notes);
    const ids = suite.days.flatMap(({ questions }) => questions.map(({ id }) => id));
    expect(new Set(ids).size).toBe(tasks + choices);
  });

  it('states the date of every day and no rule before it counts', async () => {
    let looked = 0;
    for (const name of ['part1', 'small'] as const) {
      const suite = await load(name);
      const dates = suite.days.map(({ system }) =>
        Date.parse(/Today is \w+, (.+?, \d{4}),/.exec(system)?.[1] ?? ''),
      );
      expect(dates.every((date, index) => index === 0 || date > (dates[index - 1] ?? 0))).toBe(true);
      for (const { system } of suite.days)
        for (const rule of suite.rules) {
          expect(rule.isTaughtBy(system), rule.id).toBe(false);
          looked++;
        }
    }
    expect(looked).toBe(15 * 3 + 12 * 5);
  });

  it('gives the agent only the current day, without checks or answers', async () => {
    let files = 0;
    for (const name of ['part1', 'small'] as const)
      for (const day of (await load(name)).days)
        for (const [file, text] of Object.entries(textsOf(day))) {
          expect(file.includes('/') ? file.startsWith(`${day.id}/`) : file.endsWith('.md'), file).toBe(true);
          expect(text).not.toMatch(/"expect_exit"|"incorrect"|check_\w+\.py/);
          files++;
        }
    expect(files).toBeGreaterThan(150);
  });

  it('teaches each rule through the feedback on the tasks that check it', async () => {
    const suite = await load('small');
    const failed: TaskVerdict = { status: 'ok', passed: false, broken: [], reasons: [] };
    const taught = suite.rules.filter((rule) =>
      suite.days
        .flatMap(tasksOf)
        .some((task) => task.rules.includes(rule.id) && rule.isTaughtBy(task.feedback(failed))),
    );
    expect(taught.map(({ id }) => id)).toEqual(['P1', 'P2', 'P3', 'P4', 'P5']);
    expect(suite.rules.map(({ since }) => since)).toEqual([0, 2, 4, 6, 8]);
  });

  it('scores choices as expected: the answer 1, none 0, all of them the share of right options', async () => {
    for (const [name, all] of [
      ['part1', 0.574],
      ['small', 0.59],
    ] as const) {
      const choices = choicesOf(await load(name));
      const mean = (chosen: (question: ChoiceQuestion) => string): number =>
        choices
          .map((one) => scoreChoice(readChoice(chosen(one), one.options), one.answer, one.options).score)
          .reduce((sum, score) => sum + score / choices.length, 0);
      expect(mean(({ answer }) => `So: \\bbox{${answer.join(',')}}`)).toBeCloseTo(1, 12);
      expect(mean(() => 'I do not know.')).toBe(0);
      const share = mean(({ options }) => `\\bbox{${Object.keys(options).join(', ')}}`);
      const theory = choices.reduce(
        (sum, { answer, options }) => sum + answer.length / Object.keys(options).length / choices.length,
        0,
      );
      expect(share).toBeCloseTo(theory, 12);
      expect(share).toBeCloseTo(all, 3);
      for (const { answer, options, feedback } of choices)
        for (const letter of Object.keys(options)) {
          const chosen = answer.includes(letter)
            ? answer.filter((one) => one !== letter)
            : [...answer, letter];
          expect(feedback(chosen)).toContain(
            answer.includes(letter) ? `left out ${letter}` : `chose ${letter}`,
          );
        }
    }
  });

  it('passes all 36 file checks of small for the oracle, each only once it is done', {
    timeout: 300_000,
  }, async () => {
    const { days } = await load('small');
    const passed: string[] = [];
    for (const day of days)
      await withFiles(textsOf(day), async (workspace) => {
        for (const task of tasksOf(day)) {
          expect(await task.check(workspace, never), `${task.id} before`).toMatchObject({
            status: 'ok',
            passed: false,
          });
          for (const command of task.solve?.(new Set()) ?? [])
            expect(await workspace.run(command, {}, never), task.id).toMatchObject({ end: 'exit', code: 0 });
          const verdict = await task.check(workspace, never);
          expect(verdict, task.id).toEqual({
            status: 'ok',
            passed: true,
            broken: [],
            reasons: [],
            official: true,
          });
          passed.push(task.id);
        }
      });
    expect(passed).toHaveLength(36);
  });

  it('lets the scripted work pass all 111 file checks of part I, also by the published checkers', {
    timeout: 600_000,
  }, async () => {
    const { days } = await load('part1');
    let passed = 0;
    for (const day of days)
      await withFiles(textsOf(day), async (workspace) => {
        for (const task of tasksOf(day)) {
          for (const command of task.solve?.(new Set(task.rules)) ?? [])
            expect(await workspace.run(command, {}, never), task.id).toMatchObject({ end: 'exit', code: 0 });
          const verdict = await task.check(workspace, never);
          expect(verdict, task.id).toMatchObject({ passed: true, broken: [], official: true });
          passed++;
        }
      });
    expect(passed).toBe(111);
  });

  it('names the rules that the scripted work broke, each of them and none that it followed', {
    timeout: 600_000,
  }, async () => {
    const { days } = await load('part1');
    let looked = 0;
    // One day of each learning arc; a day is done anew for each rule, since later checks count earlier files.
    for (const day of days.filter(({ id }) => ['day02', 'day08', 'day13'].includes(id)))
      for (const left of new Set(tasksOf(day).flatMap(({ rules }) => rules)))
        await withFiles(textsOf(day), async (workspace) => {
          for (const task of tasksOf(day)) {
            const followed = new Set(task.rules.filter((rule) => rule !== left));
            for (const command of task.solve?.(followed) ?? []) await workspace.run(command, {}, never);
            const { passed, broken } = await task.check(workspace, never);
            expect(passed, task.id).toBe(!task.rules.includes(left));
            expect(broken.includes(left), task.id).toBe(task.rules.includes(left));
            looked++;
          }
        });
    expect(looked).toBeGreaterThan(25);
  });

  it.each([['small', 36], ...(process.env.METACLAW === 'all' ? ([['part1', 111]] as const) : [])] as const)(
    'passes no file check of %s in an untouched workspace',
    { timeout: 300_000 },
    async (name, tasks) => {
      const { days } = await load(name);
      const verdicts: TaskVerdict[] = [];
      for (const day of days) verdicts.push(...(await gradeUntouched(day)));
      expect(verdicts).toHaveLength(tasks);
      expect(verdicts.filter(({ passed }) => passed)).toEqual([]);
      expect(verdicts.filter(({ status }) => status !== 'ok')).toEqual([]);
    },
  );
});
