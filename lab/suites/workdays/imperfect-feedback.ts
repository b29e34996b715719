import { createRandom, type Random } from '../../../src/base/random.ts';
import type { FeedbackKind, FeedbackOnRule } from '../run-records.ts';
import { fill, pick } from './draw.ts';
import type { HouseRule, RuleSet } from './rules/rule-set.ts';

/** How often feedback on a broken rule is of each kind. */
export const FEEDBACK_SHARES: Readonly<Record<FeedbackKind, number>> = {
  wrong: 0.1,
  vague: 0.25,
  partial: 0.25,
  complete: 0.4,
};

const VAGUE = [
  'That is not how we do it here: look at {about} again.',
  'Something about {about} is off.',
  'I am not happy with {about} in this one.',
  'We have our own way with {about}, and this is not it.',
];

/** A rule set whose feedback is often vague, partial or wrong. Its checks are those of the set. */
export interface ImperfectRules extends RuleSet {
  readonly rules: readonly ImperfectRule[];
  /** What kind of feedback a line is; undefined for a line that is about no rule. */
  kindOf(line: string): FeedbackOnRule | undefined;
}

export interface ImperfectRule extends HouseRule {
  /** Whether a text teaches the value that wrong feedback states. */
  isMistaughtBy(text: string): boolean;
}

interface ImperfectOptions {
  readonly seed: string;
  /** A rule of the same form with another value, by id. Without one, feedback is vague in place of wrong. */
  readonly rivals: ReadonlyMap<string, HouseRule>;
}

/** A reason that the check adds when an answer follows the wrong value. */
export const FOLLOWS_WRONG = 'follows the wrong value';

/**
 * The kind depends only on the seed, the rule and the task. Random draws of the set's own feedback are the same as without
 * imperfections, so that the rest of a suite is the same, byte for byte.
 */
export function withImperfectFeedback(set: RuleSet, { seed, rivals }: ImperfectOptions): ImperfectRules {
  const kinds = new Map<string, FeedbackOnRule>();
  const rules = set.rules.map((rule): ImperfectRule => {
    const rival = rivals.get(rule.id);
    return {
      ...rule,
      isMistaughtBy: (text) => rival?.isTaughtBy(text) === true && !rule.isTaughtBy(text),
      check: (work) => {
        const why = rule.check(work);
        return why.length > 0 && rival?.check(work).length === 0 ? [...why, FOLLOWS_WRONG] : why;
      },
      tell: (plan, split, random) => {
        const whole = rule.tell(plan, split, random);
        const own = createRandom(`${seed}/feedback/${rule.id}/${plan.task}`);
        const drawn = drawKind(own);
        const wrong = drawn === 'wrong' ? rival?.tell(plan, split, own) : undefined;
        const part = drawn === 'partial' ? cutShort(whole, rule) : undefined;
        const isVague =
          drawn === 'vague' || (drawn !== 'complete' && wrong === undefined && part === undefined);
        const said = isVague ? fill(pick(own, VAGUE), { about: rule.about }) : (wrong ?? part ?? whole);
        kinds.set(said, { rule: rule.id, kind: isVague ? 'vague' : drawn });
        return said;
      },
    };
  });
  return { name: `${set.name}, imperfect feedback`, rules, kindOf: (line) => kinds.get(line) };
}

function drawKind(random: Random): FeedbackKind {
  let left = random.next();
  for (const kind of ['wrong', 'vague', 'partial'] as const) {
    left -= FEEDBACK_SHARES[kind];
    if (left < 0) return kind;
  }
  return 'complete';
}

const FEWEST_WORDS = 4;

/** The longest beginning that is not enough to follow the rule; undefined when it is too short to say anything. */
function cutShort(text: string, rule: HouseRule): string | undefined {
  const words = text.split(' ');
  let length = Math.ceil(words.length / 2);
  const start = (): string =>
    words
      .slice(0, length)
      .join(' ')
      .replace(/[\s,;:(.]{1,20}$/, '');
  while (length >= FEWEST_WORDS && rule.isTaughtBy(start())) length--;
  return length < FEWEST_WORDS ? undefined : `${start()} …`;
}
