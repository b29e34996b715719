import { createRandom, type Random } from '../../../../src/base/random.ts';
import { fill, pick, shuffled } from '../draw.ts';
import { RULE_FORMS, SAMPLE_PLAN } from './create-rule-set.ts';
import { DRAWN_FORMS, type DrawnForm } from './drawn-forms.ts';
import type { HouseRule, RuleSet } from './rule-set.ts';
import { showsParameters } from './shows-parameters.ts';
import { createValueDraw } from './unseen-values.ts';

/** A rule with its parameters, as a rule file has them. */
interface DrawnRule extends HouseRule {
  readonly parameters: unknown;
}

interface DrawnRuleSet extends RuleSet {
  readonly rules: readonly DrawnRule[];
}

/** The days on which rules begin to count, as in the house's own sets. */
const BEGINNINGS = [0, 3, 5, 7, 9];

/** A set of rules that is the same for the same seed: at most `count`, one a form, and none that contradict one another. */
export function drawRuleSet(seed: number | string, count: number): DrawnRuleSet {
  const random = createRandom(`rules/unseen-parameters/${seed}`);
  const rules: DrawnRule[] = [];
  const claimed = new Set<string>();
  for (const form of shuffled(random, DRAWN_FORMS)) {
    if (rules.length >= count) break;
    if (form.claims.some((claim) => claimed.has(claim))) continue;
    for (const claim of form.claims) claimed.add(claim);
    rules.push(drawRule(form, random, rules.length));
  }
  return { name: `drawn ${seed}`, rules };
}

function drawRule(form: DrawnForm, random: Random, place: number): DrawnRule {
  const parameters = form.draw(createValueDraw(random));
  const ways = RULE_FORMS.find(({ name }) => name === form.name)?.create(parameters);
  if (ways === undefined) throw new Error(`there is no form ${form.name}`);
  return {
    ...ways,
    form: form.name,
    about: form.about,
    parameters,
    id: `D${place + 1}`,
    title: `${form.about}: ${canonical(parameters)}`,
    since: BEGINNINGS[place] ?? BEGINNINGS.at(-1) ?? 0,
    isTaughtBy: showsParameters(parameters, ways.words(SAMPLE_PLAN)),
    tell: (plan, split, teller) => fill(pick(teller, form.wordings[split]), ways.words(plan)),
  };
}

/** The same text for the same parameters. */
const canonical = (parameters: unknown): string =>
  JSON.stringify(parameters, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

const DRAWN = /^seed:([^:]{1,200})$/;

/** The rules that results are about by default: another set for each seed. */
export const UNTUNED_RULES = 'seed:1';

/** Whether each seed of a run has a set of its own. */
export const isDrawn = (name: string): boolean => DRAWN.test(name);

/** The name of the set that a seed of a run uses, counted from 1: for the third seed, `seed:4` is `seed:6`. */
export function rulesOfSeed(name: string, seed: number): string {
  const [, first] = DRAWN.exec(name) ?? [];
  if (first === undefined) return name;
  return `seed:${/^-?\d{1,9}$/.test(first) ? String(Number(first) + seed - 1) : `${first}/${seed}`}`;
}
