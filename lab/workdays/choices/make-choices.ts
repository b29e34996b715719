import path from 'node:path';
import { createRandom, type Random } from '../../../src/base/random.ts';
import type { ChoiceQuestion } from '../../suite/suite.ts';
import { papersOf } from '../documents/papers.ts';
import { phraseFor, pick, shuffled } from '../draw.ts';
import type { DayFacts, Form } from '../world.ts';
import type { Claim, PaperQuote, QuestionDraft, QuestionKind } from './claim.ts';
import { budgets, decisionOrder, decisions, opinions, replaced } from './decision-questions.ts';
import { assumptions, citations, estimates, findings, validations } from './figure-questions.ts';
import { SHORT_QUESTION_KINDS } from './short-questions.ts';
import { board, deployHistory, deploys, reports, shippedTickets, tickets } from './ticket-questions.ts';

/** Every kind of question that is answered by reading papers. Questions are planned in this order. */
export const DOCUMENT_KINDS: readonly QuestionKind[] = [
  tickets,
  decisions,
  deploys,
  findings,
  board,
  decisionOrder,
  deployHistory,
  assumptions,
  shippedTickets,
  validations,
  replaced,
  opinions,
  estimates,
  reports,
  budgets,
  citations,
];

interface ChoiceOptions {
  readonly facts: DayFacts;
  readonly form: Form;
  /** One question is made for each. */
  readonly ids: readonly string[];
  readonly seed: string;
  /** Texts of earlier questions; none is repeated. */
  readonly asked: ReadonlySet<string>;
}

const TRIES = 200;

/** Questions about a day's papers; short ones contain their facts. */
export function makeChoices({ facts, form, ids, seed, asked }: ChoiceOptions): readonly DocumentQuestion[] {
  const { difficulty } = facts.day;
  const kinds = planKinds(facts, form, ids.length, seed);
  const seen = new Set(asked);
  return ids.map((id, at) => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const random = createRandom(`${seed}/${id}/${attempt}`);
      // A kind that has run out of new questions gives way to the next.
      const kind = kinds[(at + Math.floor(attempt / 10)) % kinds.length];
      if (kind === undefined) break;
      const question = composeChoice({
        draft: kind.draft(facts, random),
        about: kind.name,
        id,
        form,
        optionCount: form === 'short' ? 4 : 4 + Math.min(2, Math.floor(difficulty * 1.5 + random.next())),
        pairing: form === 'short' ? 0 : 0.3 * difficulty,
        random,
      });
      if (question === undefined || seen.has(question.text)) continue;
      seen.add(question.text);
      return question;
    }
    throw new Error(`no new question for ${id}: the day has too few facts`);
  });
}

/** The kinds of a day's questions in random order. Kinds with several papers are more frequent on harder days. */
function planKinds({ day }: DayFacts, form: Form, count: number, seed: string): readonly QuestionKind[] {
  const papers = papersOf(day);
  const kinds =
    form === 'short'
      ? SHORT_QUESTION_KINDS
      : DOCUMENT_KINDS.filter((kind) => kind.papers.every((paper) => papers.includes(paper)));
  const used = new Map<QuestionKind, number>();
  const weightOf = (kind: QuestionKind): number =>
    kind.papers.length > 1 ? 1 + day.difficulty : 2 - day.difficulty;
  const plan: QuestionKind[] = [];
  while (plan.length < count) {
    const next = kinds.toSorted((a, b) => turn(used, a) / weightOf(a) - turn(used, b) / weightOf(b))[0];
    if (next === undefined) break;
    used.set(next, (used.get(next) ?? 0) + 1);
    plan.push(next);
  }
  return shuffled(createRandom(`${seed}/${day.id}/kinds`), plan);
}

/** A kind's next turn, half a turn early, so that kinds with a large weight come first. */
const turn = (used: ReadonlyMap<QuestionKind, number>, kind: QuestionKind): number =>
  (used.get(kind) ?? 0) + 0.5;

/** A question about papers, with the passages that decide it. */
export interface DocumentQuestion extends ChoiceQuestion {
  readonly about: string;
  readonly evidence: readonly PaperQuote[];
}

interface ComposeOptions {
  readonly draft: QuestionDraft;
  readonly about: string;
  readonly id: string;
  readonly form: Form;
  readonly optionCount: number;
  /** The probability that an option combines two claims, of which one may be wrong. */
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
 * The set of right letters is drawn first, all non-empty sets equally likely; then true and false claims are taken accordingly. So no
 * letter, number of letters or other habit helps: choosing all scores the same as choosing at random. Undefined when the draft has too few
 * claims.
 */
function composeChoice(options: ComposeOptions): DocumentQuestion | undefined {
  const { draft, optionCount, random, form } = options;
  const wanted = drawPattern(random, optionCount);
  const left = new Map<string, readonly Claim[]>();
  for (const claim of shuffledSlots(random, draft.claims)) {
    left.set(claim.slot, [...(left.get(claim.slot) ?? []), claim]);
  }

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

/** A random non-empty set of positions, all equally likely. */
function drawPattern(random: Random, count: number): readonly boolean[] {
  const bits = 1 + random.below(2 ** count - 1);
  return Array.from({ length: count }, (_, at) => ((bits >> at) & 1) === 1);
}

/** Shuffles the slots; the claims of a slot keep their order. */
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

interface Option {
  readonly letter: string;
  readonly claim: Claim | undefined;
}

/** The user's feedback on an answer: for each wrong or missing letter, what the papers say. */
function choiceFeedback(options: readonly Option[], key: string, form: Form): ChoiceQuestion['feedback'] {
  return (chosen) => {
    if (chosen === undefined)
      return phraseFor(`${key}/none`, form === 'full' ? UNREADABLE : UNREADABLE_SHORT);
    const wrong = options.flatMap(({ letter, claim }) =>
      claim === undefined || chosen.includes(letter) === claim.isTrue ? [] : [{ letter, claim }],
    );
    if (wrong.length === 0) return phraseFor(`${key}/right`, form === 'full' ? RIGHT : RIGHT_SHORT);
    return form === 'short'
      ? `${phraseFor(`${key}/wrong`, WRONG_SHORT)} ${wrong.map(({ letter, claim }) => `${letter} is ${claim.isTrue ? 'right' : 'wrong'}.`).join(' ')}`
      : [
          phraseFor(`${key}/wrong`, WRONG),
          ...wrong.map(({ letter, claim }) => correct(letter, claim, key)),
        ].join('\n');
  };
}

function correct(letter: string, claim: Claim, key: string): string {
  const papers = [...new Set(claim.evidence.map((evidence) => path.posix.basename(evidence.path)))].join(
    ' and ',
  );
  return claim.isTrue
    ? phraseFor(`${key}/${letter}/missing`, [
        `${letter} is missing: it is borne out by ${papers}.`,
        `You left out ${letter}, which can be read in ${papers}.`,
        `${letter} belongs in the answer, see ${papers}.`,
      ])
    : phraseFor(`${key}/${letter}/extra`, [
        `${letter} is wrong. From ${papers}: ${claim.truth}.`,
        `${letter} should not be there; it is otherwise in ${papers}: ${claim.truth}.`,
        `Not ${letter}. What one reads in ${papers} is this: ${claim.truth}.`,
      ]);
}

const RIGHT = [
  'That is right, all of it.',
  'Correct: exactly these.',
  'Yes, that agrees with the papers.',
  'Good, nothing missing and nothing too many.',
];
const RIGHT_SHORT = ['Right.', 'Correct.', 'Yes.'];
const WRONG = [
  'Not quite.',
  'Please look again.',
  'This does not agree with the papers.',
  'No, not all of it.',
];
const WRONG_SHORT = ['Not quite.', 'No.', 'Look again.'];
const UNREADABLE = [
  'I found no answer in what you wrote. The letters go into \\bbox{}, like \\bbox{A} or \\bbox{A,B}.',
  'There is no \\bbox{} with letters in your reply, so I cannot take it as an answer.',
];
const UNREADABLE_SHORT = ['No answer found. Use \\bbox{A} or \\bbox{A,B}.'];
