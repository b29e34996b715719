import type { Random } from '../../../../src/base/random.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../../../src/core/json.ts';
import {
  createDraft,
  pathsOf,
  stepsOf,
  type WorkDraft,
  type WorkStep,
} from '../../../suites/workdays/files/draft.ts';
import type { Plan } from '../../../suites/workdays/files/plan.ts';
import type { ToldRule } from '../tell/tell.ts';

/** The steps of a demonstration, which auxiliary rules change. */
export interface TaskSteps {
  readonly plan: Plan;
  readonly steps: readonly WorkStep[];
  /** The paths of new documents, in the order of the plan; a rule may rename them. */
  readonly created: readonly string[];
}

export const stepsFor = (draft: WorkDraft): TaskSteps => ({
  plan: draft.plan,
  steps: stepsOf(draft),
  created: pathsOf(draft).slice(draft.plan.edits.length),
});

/** The first words of forms, in the order in which rules are obeyed: what is listed or copied is there already, under its name. */
const ORDER = ['value', 'field', 'key', 'record', 'name', 'line', 'copy', 'mark'];
export const stageOf = ({ form }: AuxiliaryRule): number => ORDER.indexOf(form.split(' ')[0] ?? '');

/** The rules that pre-training invents beside the suite's, so that a policy learns to carry out what it reads. */
export interface AuxiliaryRule {
  readonly form: string;
  /** What it decides: two rules about the same thing could contradict each other. */
  readonly aspects: readonly string[];
  /** Whether it names fields by what they mean, so that their keys must stay what they are. */
  readonly isByNoun?: boolean;
  /** Undefined when the task gives it nothing to do. */
  apply(task: TaskSteps): TaskSteps | undefined;
  /** The rule in words, some with an example from a task in which it applies. */
  tell(example: TaskSteps, random: Random, longest: number): ToldRule;
}

/** The last word of a document's subject: `note`, `card`. */
export const typeOf = ({ creates }: Plan): string | undefined => creates[0]?.about.at(-1);

const isOwn = ({ plan, created }: TaskSteps, path: string): boolean =>
  created.includes(path) || plan.edits.some((edit) => edit.path === path);

/** Changes the records that the task itself writes: whole new documents, and lines that are added. */
export function mapRecords(
  task: TaskSteps,
  change: (record: JsonObject) => JsonObject,
  where: 'new' | 'all',
): TaskSteps | undefined {
  let isChanged = false;
  const changed = (text: string): string => {
    const record = parseJson(text);
    if (!isObject(record)) return text;
    const next = JSON.stringify(change(record as JsonObject));
    if (next !== text) isChanged = true;
    return next;
  };
  const steps = task.steps.map((step): WorkStep => {
    if (step.do === 'write' && task.created.includes(step.path)) return { ...step, text: changed(step.text) };
    if (step.do === 'append' && where === 'all' && isOwn(task, step.path))
      return { ...step, line: changed(step.line) };
    return step;
  });
  return isChanged ? { ...task, steps } : undefined;
}

/** Changes the value of a key wherever the task itself writes it. */
export function mapValues(
  task: TaskSteps,
  key: string,
  change: (value: Json) => Json,
): TaskSteps | undefined {
  const inRecord = (record: JsonObject): JsonObject =>
    key in record
      ? Object.fromEntries(
          Object.entries(record).map(([name, value]) => [name, name === key ? change(value as Json) : value]),
        )
      : record;
  const written = mapRecords(task, inRecord, 'all');
  let isSet = false;
  const steps = (written ?? task).steps.map((step): WorkStep => {
    if (step.do !== 'set' || step.keys.length !== 1 || step.keys[0] !== key || !isOwn(task, step.path))
      return step;
    isSet = true;
    return { ...step, value: change(step.value) };
  });
  return isSet || written !== undefined ? { ...task, steps } : undefined;
}

/** The first value that the task writes under a key. */
export function firstValue(task: TaskSteps, key: string): Json | undefined {
  for (const step of task.steps) {
    if (step.do === 'set' && step.keys[0] === key) return step.value;
    const record =
      step.do === 'write' ? parseJson(step.text) : step.do === 'append' ? parseJson(step.line) : undefined;
    if (isObject(record) && key in record) return (record as JsonObject)[key] as Json;
  }
  return undefined;
}

const given = new WeakMap<Plan, TaskSteps>();

/** The first value under a key as the task gives it, whatever rules have made of it. */
export function givenValue({ plan }: TaskSteps, key: string): Json | undefined {
  const base = given.get(plan) ?? stepsFor(createDraft(plan));
  given.set(plan, base);
  return firstValue(base, key);
}

/** The first new document. */
export function newRecord({ steps, created }: TaskSteps): JsonObject | undefined {
  const step = steps.find((one) => one.do === 'write' && created.includes(one.path));
  const record = step?.do === 'write' ? parseJson(step.text) : undefined;
  return isObject(record) ? (record as JsonObject) : undefined;
}

/** Renames new files, also where later steps mention them. */
export function renameFiles(
  task: TaskSteps,
  rename: (path: string, plan: Plan) => string,
): TaskSteps | undefined {
  if (task.created.length === 0) return undefined;
  const names = new Map(task.created.map((path) => [path, rename(path, task.plan)]));
  const now = (path: string): string => names.get(path) ?? path;
  const steps = task.steps.map((step): WorkStep => {
    if (step.do === 'copy') return { ...step, from: now(step.from), to: now(step.to) };
    // A line elsewhere may name the file.
    if (step.do === 'append') {
      const line = [...names].reduce((text, [old, other]) => text.replaceAll(old, other), step.line);
      return { ...step, path: now(step.path), line };
    }
    return { ...step, path: now(step.path) };
  });
  return { ...task, steps, created: task.created.map(now) };
}

/** Adds steps before the first or after the last one. */
export const withSteps = (
  task: TaskSteps,
  where: 'before' | 'after',
  added: readonly WorkStep[],
): TaskSteps | undefined =>
  added.length === 0
    ? undefined
    : { ...task, steps: where === 'before' ? [...added, ...task.steps] : [...task.steps, ...added] };
