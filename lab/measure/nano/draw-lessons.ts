import type { Random } from '../../../src/base/random.ts';
import { pick, shuffled } from '../../suites/workdays/draw.ts';
import { createDraft } from '../../suites/workdays/files/draft.ts';
import type { HouseRule } from '../../suites/workdays/rules/rule-set.ts';
import { drawAuxiliaryRule } from './auxiliary/draw-auxiliary.ts';
import { type AuxiliaryRule, stepsFor, type TaskSteps } from './auxiliary/task-steps.ts';
import type { DayTask } from './day-tasks.ts';
import { drawSeenRules, tellSeenRule } from './seen-rules.ts';
import type { ToldRule } from './tell/tell.ts';

/** By number of lessons, from none to eight. */
const SHARES = [0.08, 0.22, 0.15, 0.12, 0.13, 0.14, 0.09, 0.04, 0.03];
const AUXILIARY = 0.4;
/** The share of samples with auxiliary rules alone. */
const ONLY_INVENTED = 0.35;

/** A rule of either sort, as a sample needs it. */
export interface DrawnLesson {
  readonly form: string;
  /** In its own words, at most about so many characters. */
  tell(random: Random, longest: number): ToldRule;
  /** Changes the work, in two stages: the suite's rules change a draft, auxiliary ones its steps. */
  readonly rule?: HouseRule;
  readonly auxiliary?: AuxiliaryRule;
}

export function drawLessons(
  others: readonly DayTask[],
  seed: string,
  random: Random,
): readonly DrawnLesson[] {
  const count = drawCount(random);
  const share = random.next() < ONLY_INVENTED ? 1 : AUXILIARY;
  const invented = Array.from({ length: count }, () => random.next() < share).filter(Boolean).length;
  const rules = count === invented ? [] : drawSeenRules(seed, count - invented);
  const lessons: DrawnLesson[] = rules.map((rule) => lessonOf(rule, others));
  const taken = new Set(invented === 0 ? [] : rules.flatMap((rule) => aspectsChangedBy(rule, others)));
  for (let left = invented, tries = 0; left > 0 && tries < 12; tries++) {
    const auxiliary = drawAuxiliaryRule(
      random,
      others.find((task) => task.invented !== undefined)?.invented ?? [],
    );
    const examples = others.map(({ base }) => base).filter((base) => auxiliary.apply(base) !== undefined);
    if (auxiliary.aspects.some((aspect) => taken.has(aspect)) || examples.length === 0) continue;
    for (const aspect of auxiliary.aspects) taken.add(aspect);
    lessons.push({
      auxiliary,
      form: auxiliary.form,
      tell: (own, longest) => auxiliary.tell(pick(own, examples), own, longest),
    });
    left--;
  }
  return shuffled(random, lessons);
}

function drawCount(random: Random): number {
  const luck = random.next();
  let sum = 0;
  for (const [count, share] of SHARES.entries()) {
    sum += share;
    if (luck < sum) return count;
  }
  return 0;
}

export function lessonOf(rule: HouseRule, others: readonly DayTask[]): DrawnLesson {
  const fitting = others.filter(({ plan }) => rule.appliesTo(plan));
  const examples = fitting.length === 0 ? others : fitting;
  return {
    rule,
    form: rule.form,
    tell: (own, longest) => tellSeenRule(rule, pick(own, examples).plan, own, longest),
  };
}

/** What a rule of the suite changes; an auxiliary rule on the same could contradict it. */
const aspectsChangedBy = (rule: HouseRule, others: readonly DayTask[]): readonly string[] =>
  others
    .filter(({ plan }) => rule.appliesTo(plan))
    .slice(0, 4)
    .flatMap(({ plan, base }) => [...aspectsOf(base, stepsFor(rule.obey(createDraft(plan))))]);

/** The aspects in which two ways to do a task differ. */
function aspectsOf(before: TaskSteps, after: TaskSteps): ReadonlySet<string> {
  const found = new Set<string>();
  if (before.created.join() !== after.created.join()) found.add('name');
  const records = [before, after].map(({ steps, created, plan }) => {
    const own = new Set([...created, ...plan.edits.map(({ path }) => path)]);
    return steps.flatMap((step): readonly (readonly [string, string])[] => {
      if (step.do === 'set')
        return own.has(step.path) ? [[String(step.keys[0]), JSON.stringify(step.value)]] : [];
      const text = step.do === 'write' ? step.text : step.do === 'append' ? step.line : '';
      if (!('path' in step) || !own.has(step.path) || !text.startsWith('{')) return [];
      return Object.entries(JSON.parse(text) as Record<string, unknown>).map(
        ([key, value]) => [key, JSON.stringify(value)] as const,
      );
    });
  });
  const [old = [], now = []] = records;
  for (const [key, value] of old)
    if (!now.some(([name, other]) => name === key && other === value)) found.add(`value ${key}`);
  const [oldKeys, newKeys] = [old.map(([key]) => key), now.map(([key]) => key)];
  if (oldKeys.join() !== newKeys.join()) for (const aspect of ['keys', 'order', 'fields']) found.add(aspect);
  return found;
}
