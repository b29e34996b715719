import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { chooseMetaclawSet } from '../../../lab/suites/metaclaw/find-data.ts';
import { loadMetaclaw } from '../../../lab/suites/metaclaw/load-metaclaw.ts';
import { officialChoiceScore } from '../../../lab/suites/metaclaw/questions.ts';
import { commandsFor } from '../../../lab/suites/metaclaw/scripted-work.ts';
import { BenchError, loadSuite } from '../../../lab/suites/suites.ts';
import { FIXTURE_QUESTIONS, writeMetaclawFixture } from './fixture.ts';

const base = mkdtempSync(path.join(tmpdir(), 'instar-metaclaw-find-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let data = '';
let made = 0;
beforeEach(() => {
  data = path.join(base, `d${made++}`);
  writeMetaclawFixture(data);
});

const load = (more: object = {}) =>
  loadSuite({ suite: 'metaclaw', split: 'report', rules: 'house', data, ...more }, {});
const refusal = async (more: object = {}): Promise<string> => {
  const error = await load(more).then(
    () => undefined,
    (one: unknown) => one,
  );
  if (!(error instanceof BenchError)) throw new Error(`not refused: ${String(error)}`);
  return `${error.message} → ${error.fix}`;
};

describe('choosing the data', () => {
  it('takes part I unless another set is named, and a set that the user points at under any name', async () => {
    expect(await chooseMetaclawSet({ data, fallback: undefined, set: undefined })).toMatchObject({
      name: 'part1',
    });
    expect(await chooseMetaclawSet({ data, fallback: undefined, set: 'part2' })).toMatchObject({
      name: 'part2',
    });
    const own = path.join(data, 'part2');
    expect(await chooseMetaclawSet({ data: own, fallback: undefined, set: undefined })).toMatchObject({
      folder: own,
    });
    const published = path.join(base, 'published');
    for (const name of ['metaclaw-bench', 'metaclaw-bench-small']) {
      mkdirSync(path.join(published, name), { recursive: true });
      writeFileSync(path.join(published, name, 'all_tests.json'), '{}');
    }
    for (const [set, name] of [
      ['part1', 'metaclaw-bench'],
      ['small', 'metaclaw-bench-small'],
    ] as const)
      expect(await chooseMetaclawSet({ data: undefined, fallback: published, set })).toMatchObject({ name });
  });

  it('never falls back to the data of the environment when a folder was given', async () => {
    const wrong = chooseMetaclawSet({ data: path.join(base, 'nowhere'), fallback: data, set: undefined });
    await expect(wrong).rejects.toMatchObject({ message: expect.stringContaining('nowhere does not exist') });
  });

  it('says which folder it searched, what is in it and what to give', async () => {
    const empty = path.join(base, 'empty');
    mkdirSync(empty, { recursive: true });
    expect(await refusal({ data: empty })).toMatch(/No days .*empty.*It is empty\..*all_tests\.json, eval\//);
    expect(await refusal({ data: path.join(data, 'part1', 'eval') })).toContain(
      'It contains day01, day02, day03.',
    );
    expect(await refusal({ data: path.join(data, 'part1', 'all_tests.json') })).toContain(
      'is a file, not a folder',
    );
    expect(await refusal({ set: 'part3' })).toMatch(
      /no set named "part3". Available: part1, part2. → choose one with --set/,
    );
    expect(await refusal({ data: undefined })).toContain(
      'give its folder with --data FOLDER or INSTAR_BENCH_DATA',
    );
  });

  it('names the day that is missing, and runs the days before it with --days', async () => {
    rmSync(path.join(data, 'part1/eval/day03'), { recursive: true });
    expect(await refusal()).toMatch(
      /day03 is listed in .*all_tests\.json, but .*questions\.json is missing\. → fetch/,
    );
    expect((await load({ days: 2 })).of(1).days.map(({ id }) => id)).toEqual(['day01', 'day02']);
    rmSync(path.join(data, 'part1/workspaces/day02'), { recursive: true });
    expect(await refusal({ days: 2 })).toMatch(/day02 is listed .*workspaces\/day02 is missing/);
  });

  it('refuses more days than there are (not running fewer in silence)', async () => {
    expect(await refusal({ days: 4 })).toMatch(/has 3 days, not 4\. → give --days a number up to 3/);
  });

  it('names line and column of broken JSON', async () => {
    const file = path.join(data, 'part1/eval/day02/questions.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"rounds":', '\n"rounds"'));
    expect(await refusal()).toMatch(
      /day02\/questions\.json is not JSON \(line 2, column \d+: .+\): fetch the data again/,
    );
    writeFileSync(file, '');
    expect(await refusal()).toContain('questions.json is not JSON (line 1, column 1');
  });
});

describe('the fixture', () => {
  it('is read whole, with workspaces in both places and with no scripted work of another text', async () => {
    const first = await loadMetaclaw({ folder: path.join(data, 'part1') });
    expect(first.days.flatMap(({ questions }) => questions)).toHaveLength(FIXTURE_QUESTIONS);
    expect(first.rules.map(({ id, since }) => [id, since])).toEqual([
      ['P1', 0],
      ['P2', 1],
    ]);
    const second = await loadMetaclaw({ folder: path.join(data, 'part2') });
    expect(second.days[0]?.system).toContain('Work with care.');
    // The days have the names of the published ones, and other questions: the scripted work is not for them.
    for (const question of first.days.flatMap(({ questions }) => questions))
      expect('solve' in question).toBe(false);
  });
});

describe('the score of a choice by the published definitions', () => {
  it.each([
    ['\\bbox{A,C}', 1],
    ['\\bbox{A} no, \\bbox{A,C}', 2 / 3],
    ['\\boxed{ac}', 1],
    ['\\bbox{A,B,C}', 2 / 3],
    ['\\bbox{D,E,F}', 1 - 5 / 3],
    ['A and C', 0],
    ['\\bbox{}', 0],
  ])('of %s is %d: the first box counts, and it may fall below 0', (reply, score) => {
    expect(officialChoiceScore(reply, ['A', 'C'], 3)).toBeCloseTo(score, 12);
  });
});

describe('scripted work', () => {
  it('differs from followed rules in the ways that people slip (not by leaving the task undone)', () => {
    const commands = (broken: string): string =>
      commandsFor(
        { kind: 'document', name: 'ci_build_report.json', fields: ['build_time'] },
        { day: 'day11', date: '2026-03-30', isChecked: () => true, follows: (rule) => rule !== broken },
      ).join('\n');
    expect(commands('')).toMatch(
      /> day11\/20260330_ci_build_report\.json .*"meta".*"build_time": "2026-03-30T09:00:00\+08:00"/s,
    );
    expect(commands('P1')).toContain('"build_time": "2026-03-30 09:00"');
    expect(commands('P2')).toContain('> day11/ci-build-report.json');
    expect(commands('P3')).not.toContain('meta');
  });
});
