import { createRandom, type Random } from '../../../../src/base/random.ts';
import type { ChoiceQuestion } from '../../suite.ts';
import { phraseFor, pick, shuffled } from '../draw.ts';
import type { DayFacts } from '../world.ts';
import { type Claim, QUESTION_KINDS, type QuestionKind } from './question-kinds.ts';

interface ChoiceOptions {
  readonly facts: DayFacts;
  /** One question is made for each. */
  readonly ids: readonly string[];
  readonly seed: string;
  /** Texts of earlier questions; none is repeated. */
  readonly asked: ReadonlySet<string>;
}

const TRIES = 200;

/** Questions about a day; they contain their facts. */
export function makeChoices({ facts, ids, seed, asked }: ChoiceOptions): readonly FactQuestion[] {
  const kinds = shuffled(
    createRandom(`${seed}/${facts.day.id}/kinds`),
    ids.flatMap((_, at) => QUESTION_KINDS[at % QUESTION_KINDS.length] ?? []),
  );
  const texts = new Set(asked);
  return ids.map((id, at) => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      // A kind that has run out of new questions gives way to the next.
      const kind = kinds[(at + Math.floor(attempt / 10)) % kinds.length];
      if (kind === undefined) break;
      const question = composeChoice(kind, facts, id, createRandom(`${seed}/${id}/${attempt}`));
      if (question === undefined || texts.has(question.text)) continue;
      texts.add(question.text);
      return question;
    }
    throw new Error(`no new question for ${id}: the day has too few facts`);
  });
}

/** A question about the facts of a day. */
interface FactQuestion extends ChoiceQuestion {
  readonly about: string;
}

const LETTERS = ['A', 'B', 'C', 'D'];
const ENDINGS = ['Answer \\bbox{X,Y}.', 'Letters in \\bbox{}.', 'Reply \\bbox{X} or \\bbox{X,Y}.'];

/**
 * The set of right letters is drawn first, all non-empty sets equally likely; then true and false claims are taken accordingly. So no
 * letter, number of letters or other habit helps: choosing all scores the same as choosing at random. Undefined when the kind has too few
 * claims.
 */
function composeChoice(
  kind: QuestionKind,
  facts: DayFacts,
  id: string,
  random: Random,
): FactQuestion | undefined {
  const draft = kind.draft(facts, random);
  const pattern = 1 + random.below(2 ** LETTERS.length - 1);
  const left = new Map<string, readonly Claim[]>();
  for (const claim of shuffledSlots(random, draft.claims))
    left.set(claim.slot, [...(left.get(claim.slot) ?? []), claim]);
  const take = (isTrue: boolean): Claim | undefined => {
    for (const [slot, claims] of left) {
      const fitting = claims.filter((claim) => claim.isTrue === isTrue);
      // The lower of two draws: plausible wrong values come first and are taken more often.
      const chosen = fitting[Math.min(random.below(fitting.length), random.below(fitting.length))];
      if (chosen === undefined) continue;
      left.delete(slot);
      return chosen;
    }
    return undefined;
  };
  const taken = LETTERS.flatMap((letter, at) => {
    const claim = take(((pattern >> at) & 1) === 1);
    return claim === undefined ? [] : [{ letter, text: `${claim.text}.`, isTrue: claim.isTrue }];
  });
  if (taken.length < LETTERS.length) return undefined;
  const lines = taken.map(({ letter, text }) => `${letter}. ${text}`);
  return {
    kind: 'choice',
    id,
    about: kind.name,
    text: [draft.stem, lines.join('\n'), pick(random, ENDINGS)].join('\n'),
    options: Object.fromEntries(taken.map(({ letter, text }) => [letter, text])),
    answer: taken.filter(({ isTrue }) => isTrue).map(({ letter }) => letter),
    // What the user says about an answer: which letters are wrong or missing.
    feedback: (chosen) => {
      if (chosen === undefined) return 'No answer found. Use \\bbox{A} or \\bbox{A,B}.';
      const wrong = taken.filter(({ letter, isTrue }) => chosen.includes(letter) !== isTrue);
      if (wrong.length === 0) return phraseFor(`${id}/right`, RIGHT);
      const notes = wrong.map(({ letter, isTrue }) => `${letter} is ${isTrue ? 'right' : 'wrong'}.`);
      return `${phraseFor(`${id}/wrong`, WRONG)} ${notes.join(' ')}`;
    },
  };
}

/** Shuffles the slots; the claims of a slot keep their order. */
function shuffledSlots(random: Random, claims: readonly Claim[]): readonly Claim[] {
  const slots = shuffled(random, [...new Set(claims.map(({ slot }) => slot))]);
  return slots.flatMap((slot) => claims.filter((claim) => claim.slot === slot));
}

const RIGHT = ['Right.', 'Correct.', 'Yes.'];
const WRONG = ['Not quite.', 'No.', 'Look again.'];
