import { describe, expect, it } from 'vitest';
import type { ArmRow } from '../../../lab/measure/practice/arms.ts';
import { armFigure, compareArms, countChanges } from '../../../lab/measure/practice/compare-arms.ts';
import { gradeVerdict, makeCuratedWork } from '../../../lab/suites/workdays/curated-tasks.ts';
import { UNTUNED_RULES } from '../../../lab/suites/workdays/drawn-rules.ts';
import { openRules } from '../../../lab/suites/workdays/rules/open-rules.ts';

const rules = openRules(UNTUNED_RULES);
const options = { split: 'train', seed: 3, count: 4, rules, agent: 'tester' } as const;

describe('file tasks as curated tasks', () => {
  const work = makeCuratedWork({ ...options, earlier: 2 });

  it('come with what the user said to earlier tasks, and never with what is said to their own work', () => {
    const [first, , third] = work;
    expect(first?.task.history).toBeUndefined();
    expect(third?.task.history).toHaveLength(8);
    const before = (third?.task.history ?? []).map(({ text }) => text);
    expect(before).toContain(work[0]?.task.prompt);
    expect(before).not.toContain(third?.task.prompt);
    expect(makeCuratedWork(options).map(({ task }) => task.history)).toEqual(work.map(() => undefined));
  });

  it('are graded by the share of checks that were kept, and by 0 when the task was not done', () => {
    const question = work.find(({ question: { rules: own } }) => own.length >= 2)?.question;
    if (question === undefined) throw new Error('no task has two rules');
    const [broken = ''] = question.rules;
    const checks = 1 + question.rules.length;
    const verdict = { status: 'ok', passed: false, isDone: true, broken: [broken], reasons: [] } as const;
    const graded = gradeVerdict(question, verdict);
    expect(graded).toMatchObject({ status: 'ok', reward: (checks - 1) / checks });
    expect(graded.reasons).toHaveLength(1);
    expect(graded.reasons.join()).not.toContain(`${broken}:`);
    expect(gradeVerdict(question, { ...verdict, isDone: false })).toMatchObject({ reward: 0 });
    expect(gradeVerdict(question, { ...verdict, passed: true, broken: [] })).toEqual({
      status: 'ok',
      reward: 1,
      reasons: [],
    });
    expect(gradeVerdict(question, { ...verdict, status: 'failed-to-run' }).status).toBe('failed-to-run');
  });
});

describe('arms on the same tasks', () => {
  const row = (arm: ArmRow['arm'], task: number, kept: readonly string[]): ArmRow => ({
    ...{ seed: 1, arm, task: String(task), rules: ['A', 'B'], kept, isDone: true },
    ...{ isComplete: kept.length === 2, shown: 0, attempts: 1, allowed: 1, tokens: 100, ms: 1 },
  });
  const rows = Array.from({ length: 8 }, (_, task) => [
    row('baseline', task, task === 0 ? ['A', 'B'] : []),
    row('semantic', task, task === 0 ? ['A'] : ['A', 'B']),
  ]).flat();

  it('are compared task by task, with the losses beside the gains', () => {
    expect(countChanges(rows, 'semantic', 'baseline')).toEqual({ better: 7, worse: 1 });
    const { mean, gained, lost } = compareArms('tasks', rows, 'semantic', 'baseline');
    expect(mean).toBeCloseTo(6 / 8);
    expect([gained, lost]).toEqual([7, 1]);
    expect(compareArms('rules', rows, 'semantic', 'baseline').mean).toBeCloseTo(13 / 16);
  });

  it('have the share of rules kept over all rules, not over tasks', () => {
    const semantic = rows.filter(({ arm }) => arm === 'semantic');
    expect(armFigure('rules', semantic)).toMatchObject({ value: 15 / 16, n: 16 });
    expect(armFigure('tasks', semantic)).toMatchObject({ value: 7 / 8, n: 8 });
  });
});
