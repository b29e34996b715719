import type { Random } from '../../../src/base/random.ts';
import type { ChoiceQuestion } from '../../suite/suite.ts';
import { pick, shuffled } from '../draw.ts';
import type { Form } from '../world.ts';
import { choiceFeedback } from './choice-feedback.ts';
import type { Claim, Evidence } from './claim.ts';
import type { Draft } from './kind.ts';

/** A question that is answered by reading, with what one has to read. */
export interface DocumentQuestion extends ChoiceQuestion {
  readonly about: string;
  readonly evidence: readonly Evidence[];
}

export interface ComposeOptions {
  readonly draft: Draft;
  readonly about: string;
  readonly id: string;
  readonly form: Form;
  readonly optionCount: number;
  /** How likely an option is two claims at once, of which one may be wrong. */
  readonly pairing: number;
  readonly random: Random;
}

const LETTERS = 'ABCDEF';

const ENDINGS: Readonly<Record<Form, readonly string[]>> = {
  full: [
    'Select every right option and answer as \\bbox{X} or \\bbox{X,Y}.',
    'More than one may be right. Give the letters as \\bbox{X} or \\bbox{X,Y}.',
    'Name all that apply, in the form \\bbox{X} or \\bbox{X,Y}.',
    'Your answer: all right letters inside \\bbox{}, for example \\bbox{X} or \\bbox{X,Y}.',
  ],
  short: ['Answer \\bbox{X,Y}.', 'Letters in \\bbox{}.', 'Reply \\bbox{X} or \\bbox{X,Y}.'],
};

/**
 * Which letters are right is drawn first, every set but the empty one being equally likely; then claims are taken that
 * are true or false as drawn. So no letter, no number of letters and no habit is worth anything: choosing all scores
 * what choosing at random scores. Undefined when the draft has too few claims for it.
 */
export function composeChoice(options: ComposeOptions): DocumentQuestion | undefined {
  const { draft, optionCount, random, form } = options;
  const wanted = drawPattern(random, optionCount);
  const left = new Map<string, readonly Claim[]>();
  for (const claim of shuffledSlots(random, draft.claims)) {
    left.set(claim.slot, [...(left.get(claim.slot) ?? []), claim]);
  }

  const take = (isTrue: boolean): Claim | undefined => {
    for (const [slot, claims] of left) {
      const fitting = claims.filter((claim) => claim.isTrue === isTrue);
      // The lower of two draws: wrong values that are near the truth stand first and are taken more often.
      const chosen = fitting[Math.min(random.below(fitting.length), random.below(fitting.length))];
      if (chosen === undefined) continue;
      left.delete(slot);
      return chosen;
    }
    return undefined;
  };

  const taken: Claim[] = [];
  for (const [at, isTrue] of wanted.entries()) {
    const isPair = random.next() < options.pairing && left.size > 2 * (optionCount - at);
    const parts = isPair ? shuffled(random, [take(isTrue), take(true)]) : [take(isTrue)];
    const [first, second] = parts;
    if (first === undefined || (isPair && second === undefined)) return undefined;
    taken.push(second === undefined ? first : joined(first, second));
  }

  const letters = [...LETTERS].slice(0, optionCount);
  const byLetter = Object.fromEntries(letters.map((letter, at) => [letter, taken[at]] as const));
  const lines = letters.map((letter) => `${letter}. ${byLetter[letter]?.text ?? ''}.`);
  const gap = form === 'full' ? '\n\n' : '\n';
  return {
    kind: 'choice',
    id: options.id,
    about: options.about,
    text: [draft.stem, lines.join('\n'), pick(random, ENDINGS[form])].join(gap),
    options: Object.fromEntries(letters.map((letter) => [letter, `${byLetter[letter]?.text ?? ''}.`])),
    answer: letters.filter((letter) => byLetter[letter]?.isTrue === true),
    evidence: taken.flatMap(({ evidence }) => evidence),
    feedback: choiceFeedback(
      letters.map((letter, at) => ({ letter, claim: taken[at] })),
      options.id,
      form,
    ),
  };
}

/** One of the non-empty sets of positions, each as likely. */
function drawPattern(random: Random, count: number): readonly boolean[] {
  const bits = 1 + random.below(2 ** count - 1);
  return Array.from({ length: count }, (_, at) => ((bits >> at) & 1) === 1);
}

/** Slots in any order, the claims within each as they come. */
function shuffledSlots(random: Random, claims: readonly Claim[]): readonly Claim[] {
  const slots = shuffled(random, [...new Set(claims.map(({ slot }) => slot))]);
  return slots.flatMap((slot) => claims.filter((claim) => claim.slot === slot));
}

const joined = (a: Claim, b: Claim): Claim => ({
  slot: `${a.slot} & ${b.slot}`,
  text: `${a.text}. ${b.text}`,
  isTrue: a.isTrue && b.isTrue,
  truth: `${a.truth}. ${b.truth}`,
  evidence: [...a.evidence, ...b.evidence],
});
