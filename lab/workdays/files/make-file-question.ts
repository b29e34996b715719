import path from 'node:path';
import type { FileQuestion, TaskVerdict } from '../../suite/suite.ts';
import type { HouseRule } from '../rules/rule-set.ts';
import type { Split } from '../world.ts';
import { createDraft, type Draft, stepsOf } from './draft.ts';
import { judgeWork } from './judge-work.ts';
import type { Plan } from './plan.ts';
import type { Task } from './scene.ts';
import { takeSnapshot } from './snapshot.ts';
import { commandOf } from './steps.ts';
import { tellVerdict } from './tell-verdict.ts';

/** A task with what it was made from. */
export interface PlannedQuestion extends FileQuestion {
  readonly taskKind: string;
  readonly plan: Plan;
  /** A rule of the day that does not count here can be obeyed as well: then its way shows in what other rules have one write. */
  solve(obeyed: ReadonlySet<string>): readonly string[];
  /** As `solve`, but one rule is nearly obeyed: in each way that the task leaves room for. */
  slip(
    rule: string,
    obeyed: ReadonlySet<string>,
  ): readonly { readonly name: string; readonly commands: readonly string[] }[];
}

export function makeFileQuestion(
  { kind, plan, text }: Task,
  active: readonly HouseRule[],
  { split, seed }: { readonly split: Split; readonly seed: string },
): PlannedQuestion {
  const rules = active.filter((rule) => rule.appliesTo(plan));
  const folders = foldersOf(plan, rules);
  const draftFor = (obeyed: ReadonlySet<string>): Draft =>
    active.reduce((draft, rule) => (obeyed.has(rule.id) ? rule.obey(draft) : draft), createDraft(plan));
  return {
    kind: 'files',
    id: plan.task,
    taskKind: kind,
    plan,
    text,
    rules: rules.map(({ id }) => id),
    check: async (workspace, signal) => {
      try {
        signal.throwIfAborted();
        return judgeWork(plan, rules, await takeSnapshot(workspace, folders));
      } catch (error) {
        return failedToRun(error);
      }
    },
    feedback: (verdict) => tellVerdict(verdict, { plan, rules, split, seed }),
    solve: (obeyed) => commandsOf(draftFor(obeyed)),
    slip: (id, obeyed) => {
      const others = new Set([...obeyed].filter((other) => other !== id));
      const rule = rules.find((one) => one.id === id);
      return (rule?.slips ?? []).flatMap(({ name, make }) => {
        const draft = make(draftFor(others));
        return draft === undefined ? [] : [{ name, commands: commandsOf(draft) }];
      });
    },
  };
}

const commandsOf = (draft: Draft): readonly string[] => [...stepsOf(draft).map(commandOf), 'done'];

/** Where something could be that a check has to see. */
const foldersOf = (plan: Plan, rules: readonly HouseRule[]): ReadonlySet<string> =>
  new Set([
    ...plan.creates.map(({ folder }) => folder),
    ...plan.edits.map((edit) => path.posix.dirname(edit.path)),
    ...rules.flatMap(({ files }) => (files ?? []).map((file) => path.posix.dirname(file))),
  ]);

const failedToRun = (error: unknown): TaskVerdict => ({
  status: 'failed-to-run',
  passed: false,
  broken: [],
  reasons: [error instanceof Error ? error.message : String(error)],
});
