import { fill, gapsIn, pick } from '../../workdays/draw.ts';
import { drawRuleSet } from '../../workdays/rules/draw-rules.ts';
import type { HouseRule } from '../../workdays/rules/rule-set.ts';
import { ownFrame } from './own-frames.ts';
import { PHRASINGS } from './phrasings.ts';
import { showOnly } from './wordings.ts';

const OWN_WORDS = 0.08;
const SHOWN_ONLY = 0.14;
const OWN_FRAME = 0.68;
/** The words of a rule that show how it should be, where it has them. */
const SHOWING = ['example', 'copy', 'line'];

/** Rules that pre-training may see, also told in wordings of our own. */
export const drawSeenRules = (seed: string, count: number): readonly HouseRule[] =>
  drawRuleSet({ seed: `pre-training/${seed}`, origin: 'seen', count }).rules.map((rule) => ({
    ...rule,
    tell: (plan, split, random) => {
      const luck = random.next();
      if (luck >= OWN_FRAME) return rule.tell(plan, split, random);
      const words = rule.words(plan);
      if (luck >= SHOWN_ONLY) return ownFrame(rule, words, random) ?? rule.tell(plan, split, random);
      const shown = SHOWING.map((name) => words[name]).find((word) => word !== undefined && word !== '');
      const isWhole = !('file' in words) || 'copy' in words;
      if (luck >= OWN_WORDS && shown !== undefined && isWhole) return showOnly(shown, random);
      const fitting = (PHRASINGS[rule.form] ?? []).filter((one) => gapsIn(one).every((gap) => gap in words));
      return fitting.length === 0 ? rule.tell(plan, split, random) : fill(pick(random, fitting), words);
    },
  }));
