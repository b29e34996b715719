import { readFileSync } from 'node:fs';
import { readRuleSet } from './rules/create-rule-set.ts';
import { type DrawnRule, drawRuleSet, type RuleOrigin } from './rules/draw-rules.ts';
import { HOUSE_RULES } from './rules/house-rules.ts';
import { OTHER_RULES } from './rules/other-rules.ts';
import type { HouseRule, RuleSet } from './rules/rule-set.ts';

/** What `--rules` takes, for messages. */
export const RULE_NAMES = 'house, other, seed:N, seed:N:unseen-forms, seed:N:seen, or a file';

/** The rules that results are about: forms of pre-training with values that it never drew, another set for each seed. */
export const DRAWN_RULES = 'seed:1:unseen-parameters';

const ORIGINS: readonly RuleOrigin[] = ['unseen-parameters', 'unseen-forms', 'seen'];
const DRAWN = /^seed:(-?\d{1,9})(?::([a-z-]{1,30}))?$/;
/** Rules of a drawn set. */
const COUNT = 5;

interface DrawnName {
  readonly first: number;
  readonly origin: RuleOrigin;
}

function readDrawn(name: string): DrawnName | undefined {
  const match = DRAWN.exec(name);
  if (match === null) return undefined;
  const origin = match[2] === undefined ? 'unseen-parameters' : ORIGINS.find((one) => one === match[2]);
  return origin === undefined ? undefined : { first: Number(match[1]), origin };
}

/** Whether each seed of a run has a set of its own. */
export const isDrawn = (name: string): boolean => readDrawn(name) !== undefined;

/** The name of the set that a seed of a run uses, counted from 1: `seed:4` is `seed:6` for the third. */
export function rulesOfSeed(name: string, seed: number): string {
  const drawn = readDrawn(name);
  return drawn === undefined ? name : `seed:${drawn.first + seed - 1}:${drawn.origin}`;
}

/** The set of this name. Throws when a file cannot be read or is no rule file. */
export function rulesNamed(name: string): RuleSet {
  if (name === 'house') return HOUSE_RULES;
  if (name === 'other') return OTHER_RULES;
  const drawn = readDrawn(name);
  if (drawn !== undefined) return drawRuleSet({ seed: drawn.first, origin: drawn.origin, count: COUNT });
  return readRuleSet(readFileSync(name, 'utf8'), name);
}

const TRIES = 40;
/** As many as there are forms. */
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
        if (rule !== undefined && isOther(rule, other)) rivals.set(rule.id, other);
      }
  return rivals;
}

/** A rule whose value the other's explanation does not state. */
const isOther = (rule: HouseRule | DrawnRule, other: DrawnRule): boolean =>
  !('parameters' in rule) || JSON.stringify(rule.parameters) !== JSON.stringify(other.parameters);
