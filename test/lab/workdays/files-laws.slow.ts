import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applySteps, createDraft, stepsOf } from '../../../lab/suites/workdays/files/draft.ts';
import { judgeWork } from '../../../lab/suites/workdays/files/judge-work.ts';
import { makeFileQuestions } from '../../../lab/suites/workdays/files/make-file-questions.ts';
import {
  type Fields,
  type Leaf,
  leavesOf,
  type Plan,
  type Value,
} from '../../../lab/suites/workdays/files/plan.ts';
import { lettersIn, shortVocabulary } from '../../../lab/suites/workdays/files/short-tasks.ts';
import { meansMoment, tellMoment } from '../../../lab/suites/workdays/files/spoken-time.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import { SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { dayOf, perform, workspaceWith } from './files-day.ts';
import { draftOf, mutate, textsOf } from './files-mutate.ts';

const SETS = [HOUSE_RULES, OTHER_RULES];
const DAYS = 14;
/** The days on which a rule begins to count, and the last. */
const TURNING_DAYS = [0, 3, 5, 7, 9, 13];

const tasksOf = (set: (typeof SETS)[number], split: Split, index: number, seed = `law/${split}/${index}`) =>
  makeFileQuestions({ day: dayOf(split, seed, index), rules: set, count: 11, seed, split });

describe('in memory, on every day with a new rule', () => {
  it.each(SETS.flatMap((set) => SPLITS.map((split) => [set.name, split, set] as const)))(
    '%s rules in %s: right work passes, each single violation and each near miss fails',
    (_, split, set) => {
      const seen = { right: 0, removed: 0, slips: 0 };
      for (const index of TURNING_DAYS) mutate(set, split, `${split}/all/${index}`, index, seen);
      expect(seen.right).toBe(TURNING_DAYS.length * 8);
      expect(seen.removed).toBeGreaterThan(70);
      expect(seen.slips).toBeGreaterThan(330);
    },
  );

  it('steps have the same effect in memory as their commands in a real workspace, to the byte', async () => {
    let compared = 0;
    for (const set of SETS)
      for (const { plan, rules: ids, solve } of tasksOf(set, 'gate', 13).questions) {
        const rules = set.rules.filter(({ id }) => ids.includes(id));
        const told = applySteps(textsOf(plan), stepsOf(draftOf(plan, rules)));
        const workspace = await workspaceWith(Object.fromEntries(textsOf(plan)));
        await perform(workspace, solve(new Set(ids)));
        for (const [path, text] of told) expect(await workspace.read(path)).toBe(text);
        compared += told.size;
        await workspace.dispose();
      }
    expect(compared).toBeGreaterThan(50);
  });
});

/** The same leaf with something else in it. */
function otherLeaf(leaf: Leaf): Leaf {
  if (leaf.is === 'text') return { is: 'text', text: `${leaf.text} or so` };
  if (leaf.is === 'time') return { is: 'time', at: { ...leaf.at, minute: (leaf.at.minute + 1) % 60 } };
  if (leaf.is === 'date') return { is: 'date', at: { ...leaf.at, day: (leaf.at.day % 28) + 1 } };
  return { ...leaf, number: leaf.number + 1 };
}

/** A plan in which one leaf, by its number, is another one. */
function withOther(plan: Plan, wanted: number): Plan {
  let number = 0;
  const value = (old: Value): Value => {
    if (old.is === 'list') return { ...old, items: old.items.map(value) };
    if (old.is === 'record') return { ...old, fields: fields(old.fields) };
    return number++ === wanted ? otherLeaf(old) : old;
  };
  const fields = (old: Fields): Fields => old.map(([key, inner]) => [key, value(inner)]);
  return {
    ...plan,
    creates: plan.creates.map((document) => ({ ...document, fields: fields(document.fields) })),
    edits: plan.edits.map((edit) => ({
      ...edit,
      changes: edit.changes.map((change) =>
        'to' in change ? { ...change, to: value(change.to) } : { ...change, adds: value(change.adds) },
      ),
    })),
  };
}

describe('content', () => {
  it('is wrong with any single wrong value, even if all rules are obeyed', () => {
    let tried = 0;
    for (const set of SETS)
      for (const split of SPLITS)
        for (const { plan, rules: ids, text } of tasksOf(set, split, 13).questions) {
          const rules = set.rules.filter(({ id }) => ids.includes(id));
          for (let leaf = 0; leaf < leavesOf(plan).length; leaf++) {
            const steps = stepsOf(draftOf(withOther(plan, leaf), rules));
            const verdict = judgeWork(plan, rules, applySteps(textsOf(plan), steps));
            expect(verdict, text).toMatchObject({ passed: false, isDone: false, broken: [] });
            tried++;
          }
        }
    expect(tried).toBeGreaterThan(250);
  });

  it('is wrong when something else in the file was changed, lost or added twice', () => {
    let tried = 0;
    for (const { plan } of tasksOf(HOUSE_RULES, 'report', 13).questions)
      for (const { path, format } of plan.edits) {
        const done = applySteps(textsOf(plan), stepsOf(createDraft(plan)));
        const text = done.get(path) ?? '';
        expect(judgeWork(plan, [], done).isDone).toBe(true);
        const spoiled = [
          text.replace(/"(?:title|version|topic|by)": ?"/, (found) => `${found}x`),
          format === 'jsonl' ? text + (text.trim().split('\n').at(-1) ?? '') : text.slice(0, -3),
          '',
        ];
        for (const other of spoiled) {
          expect(other).not.toBe(text);
          expect(judgeWork(plan, [], new Map([...done, [path, other]])), other).toMatchObject({
            isDone: false,
          });
          tried++;
        }
      }
    expect(tried).toBeGreaterThan(20);
  });

  it('accepts any notation of the same time, and no other time', () => {
    const at = fc.record({
      year: fc.constant(2026),
      month: fc.integer({ min: 1, max: 12 }),
      day: fc.integer({ min: 1, max: 28 }),
      hour: fc.integer({ min: 7, max: 21 }),
      minute: fc.oneof(fc.constantFrom(0, 15, 30, 45), fc.integer({ min: 0, max: 59 })),
    });
    fc.assert(
      fc.property(at, at, fc.string(), (moment, other, seed) => {
        const said = tellMoment(moment, moment, createRandom(seed));
        expect(meansMoment(said, moment), said).toBe(true);
        if (JSON.stringify(moment) !== JSON.stringify(other))
          expect(meansMoment(said, other), said).toBe(false);
      }),
      { numRuns: 2000 },
    );
    const nine = { year: 2026, month: 3, day: 5, hour: 9, minute: 30 };
    for (const said of [
      '2026-03-05T09:30:00Z',
      '2026/03/05 9:30',
      '5 Mar 2026, 09:30',
      '05.03.2026 09:30',
      '03/05/2026 9:30 AM',
      'March 5th at 9.30 am',
    ])
      expect(meansMoment(said, nine), said).toBe(true);
    for (const said of [
      '2026-03-05',
      'March 5',
      '9:30',
      '2025-03-05 09:30',
      '2026-03-05 21:30',
      'March 5, 9:30 pm',
      'soon',
      '',
    ])
      expect(meansMoment(said, nine), said).toBe(false);
  });
});

describe('tasks of a day', () => {
  it('are the same for the same seed, have their own ids, folders and files, and count only active rules', () => {
    for (const set of SETS)
      for (let index = 0; index < DAYS; index++) {
        const { questions, files } = tasksOf(set, 'train', index);
        expect(JSON.stringify(tasksOf(set, 'train', index))).toBe(JSON.stringify({ questions, files }));
        expect(new Set(questions.map(({ id }) => id)).size).toBe(11);
        const folders = questions.flatMap(({ plan }) => [
          ...plan.creates.map(({ folder }) => folder),
          ...plan.edits.map(({ path }) => path.slice(0, path.lastIndexOf('/'))),
        ]);
        expect(new Set(folders).size).toBe(folders.length);
        const since = new Map(set.rules.map((rule) => [rule.id, rule.since]));
        for (const { rules, text, plan } of questions) {
          expect(rules.every((rule) => (since.get(rule) ?? 99) <= index)).toBe(true);
          expect(text).toContain(plan.task);
        }
      }
  });

  it('are worded differently in each split', () => {
    const textsIn = (split: Split): ReadonlySet<string> =>
      new Set(
        Array.from({ length: DAYS }, (_, index) => tasksOf(HOUSE_RULES, split, index).questions)
          .flat()
          .map(({ text }) => text),
      );
    const [train, gate, report] = SPLITS.map(textsIn);
    expect(train?.size).toBe(154);
    expect([...(train ?? [])].filter((text) => gate?.has(text) || report?.has(text))).toEqual([]);
  });

  it('are short: 45 words, five commands before done, and a closed vocabulary', () => {
    const known = new Set(shortVocabulary());
    let most = 0;
    for (const set of SETS)
      for (const split of SPLITS)
        for (let index = 0; index < DAYS; index++)
          for (const { text, rules, solve, plan } of tasksOf(set, split, index).questions) {
            most = Math.max(most, text.split(/\s+/).length);
            const commands = solve(new Set(set.rules.map(({ id }) => id)));
            expect(commands.length).toBeLessThanOrEqual(6);
            expect(solve(new Set(rules)).length).toBe(commands.length);
            for (const { fields } of plan.creates) expect(fields.length).toBeLessThanOrEqual(4);
            for (const said of [text, ...commands])
              expect(
                lettersIn(said).filter((word) => !known.has(word)),
                said,
              ).toEqual([]);
          }
    expect(most).toBeLessThanOrEqual(45);
    expect(known.size).toBeLessThan(400);
  });
});

describe('feedback', () => {
  it('states every broken rule and no other, and does not mention how it was checked', () => {
    for (const set of SETS)
      for (const split of SPLITS)
        for (const { rules, feedback } of tasksOf(set, split, 13).questions) {
          const said = (broken: readonly string[]) =>
            feedback({ status: 'ok', passed: false, isDone: true, broken, reasons: ['P1: secret reason'] });
          const taught = (broken: readonly string[]) =>
            set.rules.filter((rule) => rule.isTaughtBy(said(broken))).map(({ id }) => id);
          expect(taught(rules)).toEqual(rules);
          for (const rule of rules) expect(taught([rule])).toEqual([rule]);
          expect(said(rules)).not.toMatch(/secret|\bcheck(?:er|ed|s)?\b|verif/i);
          const praise = feedback({ status: 'ok', passed: true, isDone: true, broken: [], reasons: [] });
          expect(taught([])).toEqual([]);
          expect(set.rules.filter((rule) => rule.isTaughtBy(praise))).toEqual([]);
        }
  });

  it('describes faults in the work without stating a rule', () => {
    let heard = 0;
    for (const split of SPLITS)
      for (const { plan, feedback } of tasksOf(HOUSE_RULES, split, 13).questions) {
        const undone = judgeWork(plan, [], textsOf(plan));
        const wrong = judgeWork(
          plan,
          [],
          applySteps(textsOf(plan), stepsOf(createDraft(withOther(plan, 0)))),
        );
        const spoiled = judgeWork(
          plan,
          [],
          new Map(plan.edits.map(({ path }) => [path, '{"tickets":[1,2,3]}'])),
        );
        for (const verdict of [undone, wrong, ...(plan.edits.length === 0 ? [] : [spoiled])]) {
          const said = feedback(verdict);
          expect(said).toContain(plan.task);
          expect(
            HOUSE_RULES.rules.filter((rule) => rule.isTaughtBy(said)),
            said,
          ).toEqual([]);
          heard++;
        }
      }
    expect(heard).toBeGreaterThan(80);
  });
});
