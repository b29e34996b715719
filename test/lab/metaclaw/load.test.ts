import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findMetaclawData } from '../../../lab/suites/metaclaw/find-data.ts';
import { loadMetaclaw } from '../../../lab/suites/metaclaw/load-metaclaw.ts';
import { textsOf } from './place.ts';

type Files = Readonly<Record<string, string | Buffer>>;

let base = '';
let made = 0;
beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'instar-metaclaw-test-'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function folderWith(files: Files): Promise<string> {
  const folder = path.join(base, `f${made++}`);
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  return folder;
}

const choice = {
  id: 'r1',
  type: 'multi_choice',
  question: 'Which?\n\nA. one\nB. two\nC. three\n\nAnswer using \\bbox{X,Y}.',
  feedback: { correct: 'Right.', options: { A: 'A is right.', B: 'B is wrong.', C: 'C is right.' } },
  eval: { options: { A: 'one', B: 'two', C: 'three' }, answer: ['A', 'C'] },
};
const task = {
  id: 'r2',
  type: 'file_check',
  question: 'Please write d.',
  feedback: { correct: 'Good.', incorrect: 'Name it 20260316_d.md.' },
  eval: { command: 'python scripts/check_filename.py --dir day01/ --ext md', expect_exit: 0 },
  update: [],
};
const days = (...entries: readonly object[]): string => JSON.stringify({ name: 'x', test: entries });
const entry = { id: 'day01', desc: 'First', eval: 'day01', arc: 'A', preference_tags: ['file_naming'] };
const rounds = (...list: readonly unknown[]): string => JSON.stringify({ id: 'day01', rounds: list });

const small: Files = {
  'all_tests.json': days(entry),
  'eval/day01/questions.json': rounds(choice, task),
  'eval/scripts/check_filename.py': 'secret of the check',
  'workspaces/AGENTS.md': '# Agents\nBe kind.\n',
  'workspaces/USER.md': '# User\nAda\n',
  'workspaces/day01/README.md': '# Day 1\n**Date:** Monday, March 16, 2026\n',
  'workspaces/day01/deep/er/data.txt': '\uFEFFa\r\nb',
  'workspaces/day01/.DS_Store': Buffer.from([0xff, 0xfe]),
  'workspaces/day02/README.md': 'of another day',
};

describe('loading the data', () => {
  it('makes the days as they were published', async () => {
    const suite = await loadMetaclaw({ folder: await folderWith(small) });
    expect(suite).toMatchObject({ name: 'metaclaw', notes: [] });
    expect(suite.rules.map(({ id, since }) => [id, since])).toEqual([['P2', 0]]);
    const [day] = suite.days;
    if (day === undefined) throw new Error('no day');
    expect(day).toMatchObject({
      id: 'day01',
      about: 'First',
      arc: 'A',
      conversation: 'day',
      shell: 'confined',
    });
    expect(day.questions.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'day01/r1 choice',
      'day01/r2 files',
    ]);
    expect(day.questions[1]).toMatchObject({ rules: ['P2'], text: 'Please write d.' });
  });

  it('gives the agent the files beside the days and its own day, to the byte, and nothing else', async () => {
    const { days: loaded } = await loadMetaclaw({ folder: await folderWith(small) });
    expect(loaded.map(textsOf)).toEqual([
      {
        'AGENTS.md': small['workspaces/AGENTS.md'],
        'USER.md': small['workspaces/USER.md'],
        'day01/README.md': small['workspaces/day01/README.md'],
        'day01/deep/er/data.txt': small['workspaces/day01/deep/er/data.txt'],
      },
    ]);
  });

  it('finds the workspace where the original repository keeps it', async () => {
    const nested = Object.entries(small).map(([name, text]) => [
      name.replace('workspaces/', 'workspaces/shared/'),
      text,
    ]);
    const { days: loaded } = await loadMetaclaw({ folder: await folderWith(Object.fromEntries(nested)) });
    expect(loaded.flatMap((day) => Object.keys(textsOf(day)))).toContain('day01/README.md');
  });

  it('states who the agent is and the date in the system prompt, and none of the questions', async () => {
    const { days: loaded } = await loadMetaclaw({ folder: await folderWith(small) });
    const system = loaded[0]?.system ?? '';
    expect(system).toContain('Today is Monday, March 16, 2026');
    expect(system).toContain('## AGENTS.md\n\n# Agents\nBe kind.');
    expect(system.indexOf('AGENTS.md')).toBeLessThan(system.indexOf('USER.md'));
    expect(system).not.toContain('20260316_');
    expect(system).not.toContain('SOUL.md');
  });

  it.each([
    ['Today is March 30th, 2026, Monday.', 'Monday, March 30, 2026'],
    ['**Sprint:** March 23 - April 3, 2026\n## Today (March 23, 2026)', 'Monday, March 23, 2026'],
    ['---\ndate: 2026-04-13\n---', 'Monday, April 13, 2026'],
    ['Runs from April 20 to April 24, 2026', 'Monday, March 16, 2026'],
    ['Today is March 16.', 'Monday, March 16, 2026'],
    ['Date: February 30, 2026', 'Monday, March 16, 2026'],
  ])('reads the date from %j, else from the names of files', async (readme, said) => {
    const folder = await folderWith({ ...small, 'workspaces/day01/README.md': readme });
    expect((await loadMetaclaw({ folder })).days[0]?.system).toContain(`Today is ${said},`);
  });

  it('notes irregularities and keeps them: stated rules, different dates, no date, impossible entries', async () => {
    const check = `python -c "import glob; glob.glob('day01/20260401_*')" && python scripts/check_done_log.py done.log --min-entries 3`;
    const folder = await folderWith({
      ...small,
      'workspaces/day01/README.md': '**Date:** March 16, 2026. Follow P1-P3 and P5.',
      'eval/day01/questions.json': rounds({ ...task, eval: { command: check } }),
    });
    expect((await loadMetaclaw({ folder })).notes).toEqual([
      'day01/README.md tells the agent of the rules P1, P2, P3, P5 by name',
      'day01/r2 asks for a file dated 2026-04-01, and the agent is told that it is 2026-03-16',
      'day01/r2 asks for 3 entries in done.log, and the day gave 1 tasks so far',
    ]);
    const undated = await folderWith({
      ...small,
      'workspaces/day01/README.md': '',
      'eval/day01/questions.json': rounds(choice),
    });
    const suite = await loadMetaclaw({ folder: undated });
    expect(suite.notes).toEqual(['day01: nothing says which date it is']);
    expect(suite.days[0]?.system).not.toContain('Today is');
  });
});

describe('feedback', () => {
  const load = async () => {
    const { days: loaded } = await loadMetaclaw({ folder: await folderWith(small) });
    const [first, second] = loaded[0]?.questions ?? [];
    if (first?.kind !== 'choice' || second?.kind !== 'files') throw new Error('other questions');
    return { choose: first.feedback, done: second.feedback };
  };

  it('explains the wrong options, and no others', async () => {
    const { choose } = await load();
    expect(choose(['C', 'A'])).toBe('Right.');
    expect(choose(['A', 'B'])).toBe('You left out C. C is right.\nYou chose B. B is wrong.');
    expect(choose(['A', 'B'])).not.toContain('A is right');
    expect(choose(['A', 'C', 'X'])).toBe('You chose X, which is no option.');
    expect(choose([])).toContain('C is right');
    expect(choose(undefined)).toContain('\\bbox{A,B}');
    expect(choose(undefined)).not.toContain('is right');
  });

  it('repeats the feedback of the data on files, and none when they could not be checked', async () => {
    const { done } = await load();
    const verdict = { status: 'ok', passed: true, broken: [], reasons: ['hidden'] } as const;
    expect(done(verdict)).toBe('Good.');
    expect(done({ ...verdict, passed: false })).toBe('Name it 20260316_d.md.');
    expect(done({ ...verdict, passed: false })).not.toContain('hidden');
    expect(done({ ...verdict, status: 'failed-to-run', passed: false })).not.toMatch(/Good|Name it/);
  });
});

describe('the oracle', () => {
  it('provides its commands for the questions it names, whichever rules are obeyed', async () => {
    const folder = await folderWith({ ...small, 'oracle.json': '{"day01/r2": ["touch x", "touch y"]}' });
    const { days: loaded } = await loadMetaclaw({ folder, oracle: path.join(folder, 'oracle.json') });
    const [, second] = loaded[0]?.questions ?? [];
    if (second?.kind !== 'files') throw new Error('other questions');
    expect(second.solve?.(new Set())).toEqual(['touch x', 'touch y']);
    expect(second.solve?.(new Set(['P2']))).toEqual(['touch x', 'touch y']);
    const without = await loadMetaclaw({ folder });
    expect(without.days[0]?.questions[1]).not.toHaveProperty('solve');
  });

  it.each([
    ['{"day01/r9": ["x"]}', 'day01/r9: the data has no such file question'],
    ['{"day01/r1": ["x"]}', 'day01/r1: the data has no such file question'],
    ['{"day01/r2": []}', 'day01/r2: must hold at least one command'],
    ['[]', 'must be an object'],
  ])('is refused as %s', async (text, why) => {
    const folder = await folderWith({ ...small, 'oracle.json': text });
    await expect(loadMetaclaw({ folder, oracle: path.join(folder, 'oracle.json') })).rejects.toThrow(why);
  });
});

describe('invalid data', () => {
  const changed = (round: object, change: object): string => rounds({ ...round, ...change });
  const questions = 'eval/day01/questions.json';
  const wrong: readonly (readonly [string, Files, string])[] = [
    ['no JSON', { 'all_tests.json': '{' }, 'all_tests.json is not JSON'],
    ['no days', { 'all_tests.json': days() }, 'all_tests.json: test: must hold at least one day'],
    ['no list of days', { 'all_tests.json': '{}' }, 'all_tests.json: test: must be a list of days'],
    ['a day twice', { 'all_tests.json': days(entry, entry) }, 'test[1].id: day01 occurs twice'],
    [
      'a way out',
      { 'all_tests.json': days({ ...entry, eval: '../..' }) },
      'test[0].eval: must be a plain name',
    ],
    [
      'a day without questions',
      { 'all_tests.json': days({ ...entry, eval: 'day09' }) },
      'day09/questions.json is missing',
    ],
    ['a day without files', { 'all_tests.json': days({ ...entry, id: 'day09' }) }, 'day09 is listed in'],
    ['no questions', { [questions]: rounds() }, 'rounds: must hold at least one question'],
    ['another type', { [questions]: changed(task, { type: 'essay' }) }, 'rounds[0].type: must be of type'],
    ['a question twice', { [questions]: rounds(task, task) }, 'rounds[1].id: r2 occurs twice'],
    ['no text', { [questions]: changed(task, { question: '' }) }, 'rounds[0].question: must not be empty'],
    [
      'no feedback',
      { [questions]: changed(task, { feedback: undefined }) },
      'rounds[0].feedback: must be an object',
    ],
    [
      'half of the feedback',
      { [questions]: changed(task, { feedback: { correct: '' } }) },
      'rounds[0].feedback.incorrect: must be text',
    ],
    [
      'a changing workspace',
      { [questions]: changed(task, { update: [{}] }) },
      'rounds[0].update: changes of the workspace',
    ],
    [
      'a check that is no text',
      { [questions]: changed(task, { eval: { command: 1 } }) },
      'rounds[0].eval.command: must be text',
    ],
    [
      'an unknown demand',
      { [questions]: changed(task, { eval: { ...task.eval, expect_stderr: 'x' } }) },
      'expect_stderr',
    ],
    [
      'no exit code',
      { [questions]: changed(task, { eval: { ...task.eval, expect_exit: 'x' } }) },
      'expect_exit: must be a whole',
    ],
    [
      'an unknown command',
      { [questions]: changed(task, { eval: { command: 'bash x.sh' } }) },
      'rounds[0].eval.command: it calls bash, not python. Write it as',
    ],
    [
      'an output that our checkers do not print',
      { [questions]: changed(task, { eval: { ...task.eval, expect_stdout: 'OK' } }) },
      'rounds[0].eval.command: expect_stdout asks',
    ],
    [
      'a letter that is no option',
      { [questions]: changed(choice, { eval: { ...choice.eval, answer: ['Z'] } }) },
      'rounds[0].eval.answer: Z is not one of the options',
    ],
    [
      'a letter twice',
      { [questions]: changed(choice, { eval: { ...choice.eval, answer: ['A', 'A'] } }) },
      'names a letter twice',
    ],
    [
      'no right option',
      { [questions]: changed(choice, { eval: { ...choice.eval, answer: [] } }) },
      'rounds[0].eval.answer: must hold at least one',
    ],
    [
      'one option',
      { [questions]: changed(choice, { eval: { options: { A: '' }, answer: ['A'] } }) },
      'rounds[0].eval.options: must hold at least two',
    ],
    ['bytes that are no text', { 'workspaces/day01/x.bin': Buffer.from([0xff]) }, 'x.bin is not UTF-8'],
  ];

  it.each(wrong)('is refused with file, field and fix: %s', async (_, files, why) => {
    const folder = await folderWith({ ...small, ...files });
    const failure = await loadMetaclaw({ folder }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ name: 'MetaclawDataError', message: expect.stringContaining(why) });
    expect(failure).toMatchObject({ message: expect.stringContaining(folder) });
  });

  it('is refused when it is missing, or links out of its folder', async () => {
    await expect(loadMetaclaw({ folder: path.join(base, 'gone') })).rejects.toThrow(
      'point to a folder that holds',
    );
    const folder = await folderWith(small);
    await symlink('/etc/hostname', path.join(folder, 'workspaces/day01/link'));
    await expect(loadMetaclaw({ folder })).rejects.toThrow('link is not a plain file');
  });
});

describe('looking for the data', () => {
  it('takes the first candidate that is a set or contains sets', async () => {
    const one = await folderWith(small);
    const several = await folderWith({
      'b/all_tests.json': '{}',
      'a/all_tests.json': '{}',
      'c/other.json': '{}',
    });
    const none = await folderWith({ 'x.txt': '' });
    expect(await findMetaclawData([undefined, '', none, path.join(base, 'gone'), several, one])).toEqual([
      { name: 'a', folder: path.join(several, 'a') },
      { name: 'b', folder: path.join(several, 'b') },
    ]);
    expect(await findMetaclawData([one, several])).toEqual([{ name: path.basename(one), folder: one }]);
    expect(await findMetaclawData([none, undefined])).toEqual([]);
  });
});
