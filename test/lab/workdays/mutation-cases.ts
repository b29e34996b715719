import { expect, it } from 'vitest';
import type { TaskVerdict } from '../../../lab/suites/suite.ts';
import {
  makeFileQuestions,
  type PlannedQuestion,
} from '../../../lab/suites/workdays/files/make-file-questions.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import type { RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import { SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { dayOf, perform, workspaceWith } from './files-day.ts';

/** Never aborts. */
const signal = new AbortController().signal;
const SETS: readonly RuleSet[] = [HOUSE_RULES, OTHER_RULES];
const KINDS = 4;
/** All rules count on it. */
const LAST_DAY = 13;

interface Cell {
  right: number;
  removed: number;
  slips: number;
}

/** Rule and kind of task → how often it was obeyed and passed, left out and failed, nearly obeyed and failed. */
const table = new Map<string, Cell>();

export const count = (rule: string, kind: string, what: keyof Cell): void => {
  const cell = table.get(`${rule} ${kind}`) ?? { right: 0, removed: 0, slips: 0 };
  cell[what]++;
  table.set(`${rule} ${kind}`, cell);
};

/** What the check says of a workspace in which the commands were run. */
export async function attempt(question: PlannedQuestion, commands: readonly string[]): Promise<TaskVerdict> {
  const { plan } = question;
  const edited = Object.fromEntries(plan.edits.map(({ path, before }) => [path, before]));
  const workspace = await workspaceWith({ ...plan.given, ...edited });
  try {
    await perform(workspace, commands);
    return await question.check(workspace, signal);
  } finally {
    await workspace.dispose();
  }
}

export const cases = SETS.flatMap((rules) => SPLITS.map((split) => [rules.name, split, rules] as const));

/** One split; in memory all of them are tried, and `files-mutation.slow.ts` tries them all here. */
export const oneSplit = cases.filter(([, split]) => split === 'train');

export const questionsOf = (rules: RuleSet, split: Split, name: string) => {
  const seed = `${split}/${name}`;
  const day = dayOf(split, seed, LAST_DAY);
  return makeFileQuestions({ day, rules, count: KINDS, seed, split }).questions;
};

/** A short task has few fields: it takes some of them until every rule was met in every kind that it fits. */
export const SEEDS: readonly string[] = ['m1', 'm2', 'm3', 'm4'];

/** Where each rule can be broken at all. */
const FITS: Readonly<Record<string, string>> = {
  P1: 'append both create update',
  P2: 'both create',
  P3: 'both create',
  P4: 'append both update',
  P5: 'append both create update',
  Q1: 'both create',
  Q2: 'append both create',
  Q3: 'both create update',
  Q4: 'both create',
  Q5: 'append both create update',
};

/** Every rule was tried in every kind of task to which it applies. */
export function expectWholeTable(): void {
  const fitting = Object.entries(FITS).flatMap(([rule, kinds]) =>
    kinds.split(' ').map((kind) => `${rule} ${kind}`),
  );
  expect([...table.keys()].sort()).toEqual(fitting.sort());
  for (const [name, { right, removed, slips }] of table) {
    expect(right, name).toBeGreaterThanOrEqual(1);
    expect(removed, name).toBe(right);
    expect(slips, name).toBeGreaterThanOrEqual(4);
  }
  const sum = (what: keyof Cell): number =>
    [...table.values()].reduce((total, cell) => total + cell[what], 0);
  expect(sum('removed')).toBeGreaterThan(250);
  expect(sum('slips')).toBeGreaterThan(500);
}

/** What holds in a real workspace, whatever else is tried there. */
export function describeDays(): void {
  it('judges each task of a day independently of the others', async () => {
    let judged = 0;
    for (const rules of SETS)
      for (const seed of ['day/1', 'day/2']) {
        const day = dayOf('train', seed, LAST_DAY);
        const { questions, files } = makeFileQuestions({ day, rules, count: 11, seed, split: 'train' });
        const random = createRandom(seed);
        const workspace = await workspaceWith(files);
        for (const question of questions) {
          const obeyed = new Set(question.rules.filter(() => random.below(2) === 0));
          const isLeftUndone = random.below(4) === 0;
          if (!isLeftUndone) await perform(workspace, question.solve(obeyed));
          const verdict = await question.check(workspace, signal);
          expect(verdict.isDone).toBe(!isLeftUndone);
          if (!isLeftUndone)
            expect(verdict.broken).toEqual(question.rules.filter((rule) => !obeyed.has(rule)));
          judged++;
        }
        await workspace.dispose();
      }
    expect(judged).toBe(44);
  });

  it('reports that the check failed to run (not that the work is wrong) when the workspace is gone or the run was stopped', async () => {
    const [question] = questionsOf(HOUSE_RULES, 'train', 'm1');
    const workspace = await workspaceWith({});
    expect(await question?.check(workspace, AbortSignal.abort())).toMatchObject({
      status: 'failed-to-run',
      passed: false,
    });
    await workspace.dispose();
  });
}
