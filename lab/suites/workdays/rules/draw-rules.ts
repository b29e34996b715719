import { createRandom, type Random } from '../../../../src/base/random.ts';
import { fill, pick, shuffled } from '../draw.ts';
import { RULE_FORMS, SAMPLE_PLAN } from './create-rule-set.ts';
import type { DrawnForm } from './drawn-form.ts';
import { FIRST_FORMS } from './first-forms.ts';
import { NOTATION_DRAWS } from './notation-table.ts';
import type { HouseRule, RuleSet } from './rule-set.ts';
import { showsParameters } from './shows-parameters.ts';
import { createValueDraw, type RuleOrigin } from './split-values.ts';
import { STRUCTURE_DRAWS } from './structure-table.ts';

export type { RuleOrigin } from './split-values.ts';

/** All forms that rules are drawn from, seen and held out. */
const DRAWN_FORMS: readonly DrawnForm[] = [...FIRST_FORMS, ...NOTATION_DRAWS, ...STRUCTURE_DRAWS];

/** A rule with its origin and its parameters, as a rule file has them. */
export interface DrawnRule extends HouseRule {
  readonly origin: RuleOrigin;
  readonly parameters: unknown;
}

export interface DrawnRuleSet extends RuleSet {
  readonly rules: readonly DrawnRule[];
}

interface DrawOptions {
  /** Any seed is accepted. */
  readonly seed: number | string;
  readonly origin: RuleOrigin;
  /** At most one rule per form, and none that contradict one another: a set may be smaller. */
  readonly count: number;
}

/** The days on which rules begin to count, as in the house's own sets. */
const BEGINNINGS = [0, 3, 5, 7, 9];

/** A set of rules that is the same for the same options. */
export function drawRuleSet({ seed, origin, count }: DrawOptions): DrawnRuleSet {
  const name = `${origin} ${seed}`;
  const random = createRandom(`rules/${origin}/${seed}`);
  const rules: DrawnRule[] = [];
  const claimed = new Set<string>();
  for (const form of shuffled(random, formsOf(origin))) {
    if (rules.length >= count) break;
    if (form.claims.some((claim) => claimed.has(claim))) continue;
    for (const claim of form.claims) claimed.add(claim);
    rules.push(drawRule(form, origin, random, rules.length));
  }
  return { name, rules };
}

export const formsOf = (origin: RuleOrigin): readonly DrawnForm[] =>
  DRAWN_FORMS.filter(({ heldOut }) => (heldOut === undefined) === (origin !== 'unseen-forms'));

/** One rule of a form, the same for the same seed. */
export const drawRuleOf = (form: DrawnForm, origin: RuleOrigin, seed: string): DrawnRule =>
  drawRule(form, origin, createRandom(`rule/${form.name}/${origin}/${seed}`), 0);

function drawRule(form: DrawnForm, origin: RuleOrigin, random: Random, place: number): DrawnRule {
  const parameters = form.draw(createValueDraw(random, origin === 'seen' ? 'seen' : 'held out'));
  const ways = RULE_FORMS.find(({ name }) => name === form.name)?.create(parameters);
  if (ways === undefined) throw new Error(`there is no form ${form.name}`);
  return {
    ...ways,
    ...{ form: form.name, about: form.about, origin, parameters },
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

/** The texts among the parameters that one needs to know. */
export const valuesIn = (parameters: unknown): readonly string[] =>
  typeof parameters === 'string'
    ? [parameters]
    : typeof parameters === 'object' && parameters !== null
      ? Object.values(parameters).flatMap(valuesIn)
      : [];
