import { type DrawnRule, drawRuleSet, type RuleOrigin } from './rules/draw-rules.ts';
import type { HouseRule, RuleSet } from './rules/rule-set.ts';

/** The rules that results are about: forms of pre-training with values that it never drew, another set for each seed. */
export const UNTUNED_RULES = 'seed:1:unseen-parameters';

const DRAWN = /^seed:([^:]{1,200})(:[a-z-]{1,30})?$/;

/** Whether each seed of a run has a set of its own. */
export const isDrawn = (name: string): boolean => DRAWN.test(name);

/** The name of the set that a seed of a run uses, counted from 1: for the third seed, `seed:4` is `seed:6`. */
export function rulesOfSeed(name: string, seed: number): string {
  const [, first, origin = ''] = DRAWN.exec(name) ?? [];
  if (first === undefined) return name;
  const own = /^-?\d{1,9}$/.test(first) ? String(Number(first) + seed - 1) : `${first}/${seed}`;
  return `seed:${own}${origin}`;
}

const ORIGINS: readonly RuleOrigin[] = ['unseen-parameters', 'unseen-forms', 'seen'];
const TRIES = 40;
/** At least as many as there are forms. */
const ALL = 1_000;

/**
 * For each rule another one of its form with another value, by id: what somebody says who remembers it wrongly. Rules whose
 * form is in no generator have none.
 */
export function findRivals({ name, rules }: RuleSet): ReadonlyMap<string, HouseRule> {
  const rivals = new Map<string, HouseRule>();
  for (let attempt = 0; attempt < TRIES && rivals.size < rules.length; attempt++)
    for (const origin of ORIGINS)
      for (const other of drawRuleSet({ seed: `rival of ${name}/${attempt}`, origin, count: ALL }).rules) {
        const rule = rules.find(({ id, form }) => form === other.form && !rivals.has(id));
        if (rule !== undefined && hasOtherValue(rule, other)) rivals.set(rule.id, other);
      }
  return rivals;
}

const hasOtherValue = (rule: HouseRule | DrawnRule, other: DrawnRule): boolean =>
  !('parameters' in rule) || JSON.stringify(rule.parameters) !== JSON.stringify(other.parameters);
