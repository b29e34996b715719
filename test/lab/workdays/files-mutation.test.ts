import { describe, expect, it } from 'vitest';
import type { TaskVerdict } from '../../../lab/suite/suite.ts';
import { applySteps, stepsOf, type WorkDraft } from '../../../lab/workdays/files/draft.ts';
import { judgeWork } from '../../../lab/workdays/files/judge-work.ts';
import { makeFileQuestions, type PlannedQuestion } from '../../../lab/workdays/files/make-file-questions.ts';
import { HOUSE_RULES } from '../../../lab/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/workdays/rules/other-rules.ts';
import type { RuleSet } from '../../../lab/workdays/rules/rule-set.ts';
import { type Form, SPLITS, type Split } from '../../../lab/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { dayOf, perform, workspaceWith } from './files-day.ts';
import { draftOf, textsOf } from './files-mutate.ts';

const signal = new AbortController().signal;
const SETS: readonly RuleSet[] = [HOUSE_RULES, OTHER_RULES];
const FORMS: readonly Form[] = ['full', 'short'];
const KINDS: Readonly<Record<Form, number>> = { full: 11, short: 4 };
/** All rules count on it. */
const LAST_DAY = 13;

interface Cell {
  right: number;
  removed: number;
  slips: number;
}

/** Rule and kind of task → how often it was obeyed and passed, left out and failed, nearly obeyed and failed. */
const table = new Map<string, Cell>();

const count = (rule: string, kind: string, what: keyof Cell): void => {
  const cell = table.get(`${rule} ${kind}`) ?? { right: 0, removed: 0, slips: 0 };
  cell[what]++;
  table.set(`${rule} ${kind}`, cell);
};

async function attempt(question: PlannedQuestion, commands: readonly string[]): Promise<TaskVerdict> {
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

const cases = SETS.flatMap((rules) =>
  FORMS.flatMap((form) => SPLITS.map((split) => [rules.name, form, split, rules] as const)),
);

/** One split for each form; in memory all of them are tried, and `files-mutation.slow.ts` tries them all here. */
const oneSplit = cases.filter(([, form, split]) => split === (form === 'full' ? 'report' : 'train'));

const questionsOf = (rules: RuleSet, form: Form, split: Split, name: string) => {
  const seed = `${split}/${name}`;
  const day = dayOf(split, seed, LAST_DAY);
  return makeFileQuestions({ day, rules, form, count: KINDS[form], seed, split }).questions;
};

/** A short task has few fields: it takes some of them until every rule was met in every kind that it fits. */
const SEEDS: Readonly<Record<Form, readonly string[]>> = { full: ['m1'], short: ['m1', 'm2', 'm3', 'm4'] };

/** Where each rule can be broken at all. */
const FITS: Readonly<Record<string, string>> = {
  P1: 'convert decision-log deploy-record due-date figure-change handover incident-report meeting-summary ticket-states weekly-figures / append both create update',
  P2: 'convert decision-log handover incident-report meeting-summary survey-sheet weekly-figures / both create',
  P3: 'convert decision-log handover incident-report meeting-summary survey-sheet weekly-figures / both create',
  P4: 'deploy-record due-date figure-change handover ticket-states / append both update',
  P5: 'convert decision-log deploy-record due-date figure-change handover incident-report meeting-summary ticket-states survey-sheet weekly-figures / append both create update',
  Q1: 'convert decision-log handover incident-report survey-sheet weekly-figures / both create',
  Q2: 'convert decision-log deploy-record handover incident-report meeting-summary / append both create',
  Q3: 'convert figure-change handover incident-report weekly-figures / both create update',
  Q4: 'convert decision-log handover incident-report meeting-summary survey-sheet weekly-figures / both create',
  Q5: 'convert decision-log deploy-record due-date figure-change handover incident-report meeting-summary ticket-states survey-sheet weekly-figures / append both create update',
};

describe('in memory', () => {
  it.each(cases)(
    '%s rules, %s form, %s: what obeys passes, each single violation and each near miss fails',
    (_, form, split, rules) => {
      for (const seed of [...SEEDS[form], 'm5', 'm6'])
        for (const { plan, taskKind, text, rules: ids } of questionsOf(rules, form, split, seed)) {
          const own = rules.rules.filter(({ id }) => ids.includes(id));
          const judge = (draft: WorkDraft) => judgeWork(plan, own, applySteps(textsOf(plan), stepsOf(draft)));
          expect(judge(draftOf(plan, own)), text).toMatchObject({ passed: true, isDone: true, broken: [] });
          for (const rule of own) {
            const kind = `${form}/${taskKind}`;
            count(rule.id, kind, 'right');
            const without = draftOf(
              plan,
              own.filter((other) => other !== rule),
            );
            const verdict = judge(without);
            expect(verdict, `${text} without ${rule.id}`).toMatchObject({
              passed: false,
              isDone: true,
              broken: [rule.id],
            });
            expect(verdict.reasons.every((reason) => reason.startsWith(`${rule.id}: `))).toBe(true);
            count(rule.id, kind, 'removed');
            for (const { name, make } of rule.slips) {
              const slipped = make(without);
              if (slipped === undefined) continue;
              expect(judge(slipped), `${text} with ${rule.id} ${name}`).toMatchObject({
                passed: false,
                broken: [rule.id],
              });
              count(rule.id, kind, 'slips');
            }
          }
          expect(judge(draftOf(plan, []))).toMatchObject({
            isDone: true,
            passed: ids.length === 0,
            broken: ids,
          });
        }
    },
  );
});

describe('in a real workspace, with the real shell', () => {
  it.each(oneSplit)(
    '%s rules, %s form, %s: what obeys passes, each single violation fails, nothing done fails',
    async (_, form, split, rules) => {
      for (const question of questionsOf(rules, form, split, 'm1')) {
        expect(await attempt(question, question.solve(new Set(question.rules)))).toEqual({
          status: 'ok',
          passed: true,
          isDone: true,
          broken: [],
          reasons: [],
        });
        for (const rule of question.rules) {
          const others = new Set(question.rules.filter((other) => other !== rule));
          expect(
            await attempt(question, question.solve(others)),
            `${question.text} without ${rule}`,
          ).toMatchObject({ passed: false, isDone: true, broken: [rule] });
        }
        const untouched = await attempt(question, ['done']);
        expect(untouched).toMatchObject({ status: 'ok', passed: false, isDone: false });
        expect(untouched.reasons.some((reason) => reason.startsWith('task: '))).toBe(true);
      }
    },
  );

  it.each(oneSplit.filter(([, form]) => form === 'short'))(
    '%s rules, %s form, %s: a near miss breaks the rule',
    async (_, form, split, rules) => {
      let slips = 0;
      for (const question of questionsOf(rules, form, split, 'm1'))
        for (const rule of question.rules)
          for (const { name, commands } of question.slip(rule, new Set(question.rules))) {
            expect(await attempt(question, commands), `${question.text} with ${rule} ${name}`).toMatchObject({
              passed: false,
              broken: [rule],
            });
            slips++;
          }
      expect(slips).toBeGreaterThan(40);
    },
  );

  it('judges each task of a day independently of the others', async () => {
    let judged = 0;
    for (const rules of SETS)
      for (const form of FORMS) {
        const seed = `day/${form}`;
        const day = dayOf('train', seed, LAST_DAY);
        const { questions, files } = makeFileQuestions({ day, rules, form, count: 11, seed, split: 'train' });
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
    const [question] = questionsOf(HOUSE_RULES, 'short', 'train', 'm1');
    const workspace = await workspaceWith({});
    expect(await question?.check(workspace, AbortSignal.abort())).toMatchObject({
      status: 'failed-to-run',
      passed: false,
    });
    await workspace.dispose();
  });
});

describe('the table', () => {
  it('covers every rule in every kind of task to which it applies: obeyed, omitted and nearly obeyed', () => {
    const fitting = Object.entries(FITS).flatMap(([rule, kinds]) => {
      const [full = '', short = ''] = kinds.split(' / ');
      return [
        ...full.split(' ').map((kind) => `${rule} full/${kind}`),
        ...short.split(' ').map((kind) => `${rule} short/${kind}`),
      ];
    });
    expect([...table.keys()].sort()).toEqual(fitting.sort());
    for (const [name, { right, removed, slips }] of table) {
      expect(right, name).toBeGreaterThanOrEqual(1);
      expect(removed, name).toBe(right);
      expect(slips, name).toBeGreaterThanOrEqual(4);
    }
    const sum = (what: keyof Cell): number =>
      [...table.values()].reduce((total, cell) => total + cell[what], 0);
    expect(sum('removed')).toBeGreaterThan(300);
    expect(sum('slips')).toBeGreaterThan(500);
  });
});
