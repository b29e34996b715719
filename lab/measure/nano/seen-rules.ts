import type { Random } from '../../../src/base/random.ts';
import { fill, gapsIn, pick } from '../../suites/workdays/draw.ts';
import type { Plan } from '../../suites/workdays/files/plan.ts';
import { drawRuleSet } from '../../suites/workdays/rules/draw-rules.ts';
import type { HouseRule } from '../../suites/workdays/rules/rule-set.ts';
import { PHRASINGS } from './phrasings.ts';
import { meaningOf } from './tell/rule-meaning.ts';
import { type ToldRule, tell } from './tell/tell.ts';
import { paraphrase, showOnly } from './wordings.ts';

/** How rules are told: by the example alone, in wordings of ours, in those of the training split; all others by the grammar. */
const SHARES = { shownOnly: 0.04, phrasing: 0.06, split: 0.15 };
/** The words of a rule that show how it should be, where it has them. */
const SHOWING = ['example', 'copy', 'line'];

/** Rules that pre-training may see. */
export const drawSeenRules = (seed: string, count: number): readonly HouseRule[] =>
  drawRuleSet({ seed: `pre-training/${seed}`, origin: 'seen', count }).rules;

/** A rule of the suite in the words of somebody who looks at a task. */
export function tellSeenRule(rule: HouseRule, plan: Plan, random: Random, longest: number): ToldRule {
  const words = rule.words(plan);
  const shown = SHOWING.map((name) => words[name]).find((word) => word !== undefined && word !== '');
  const isShowing = (text: string): boolean => shown !== undefined && text.includes(shown);
  const asTold = (text: string): ToldRule => ({ text: paraphrase(text, random), isShown: isShowing(text) });
  const luck = random.next();
  const isWhole = !('file' in words) || 'copy' in words;
  if (luck < SHARES.shownOnly && shown !== undefined && isWhole) return asTold(showOnly(shown, random));
  const own = (PHRASINGS[rule.form] ?? []).filter((one) => gapsIn(one).every((gap) => gap in words));
  if (luck < SHARES.shownOnly + SHARES.phrasing && own.length > 0)
    return asTold(fill(pick(random, own), words));
  const meaning = meaningOf(rule, words, random.below(60));
  if (meaning === undefined || luck < SHARES.shownOnly + SHARES.phrasing + SHARES.split) {
    const text = rule.tell(plan, 'train', random);
    // Some people leave out a part: who learns from them learns to guess.
    if (meaning === undefined || isShowing(text) || rule.isTaughtBy(text)) return asTold(text);
  }
  return tell(meaning, random, longest);
}
