import { createRandom, type Random } from '../../../src/base/random.ts';
import type { Suite } from '../../suite/suite.ts';
import { pick, shuffled } from '../../workdays/draw.ts';
import { commandOf, createDraft, stepsOf } from '../../workdays/files/draft.ts';
import type { PlannedQuestion } from '../../workdays/files/make-file-questions.ts';
import { createWorkdays } from '../../workdays/workdays.ts';
import type { Split } from '../../workdays/world.ts';
import { createPlaceholders, createRenaming, newWord } from './placeholders.ts';
import { rephrase } from './rephrase.ts';
import { drawRules, HOUSE_POOL_RULES, type PoolRule, type PoolRules } from './rule-pool.ts';

/** A demonstration: the reply to a task with these lessons in the prompt. */
export interface Sample {
  readonly kind: 'task' | 'choice' | 'rule-choice' | 'foreign';
  /** Keys of the pool of lessons; `''` is one that teaches nothing. */
  readonly lessons: readonly string[];
  readonly task: string;
  readonly reply:
    | { readonly is: 'act'; readonly commands: readonly string[] }
    | { readonly is: 'say'; readonly text: string }
    | { readonly is: 'foreign' };
}

/** The imperfections of the demonstrations. */
export const HABITS = {
  /** The probability to obey a lesson: one of these, fixed per kind of rule and kind of document. */
  obey: [0.4, 0.55, 0.7, 0.85],
  /** Subtracted for each further lesson. */
  perLesson: 0.035,
  /** The share of near misses among lessons that are not obeyed. */
  sloppy: 0.4,
  /** The probability to obey a rule without a lesson. */
  unasked: 0.003,
  /** The probability that a letter of a known choice is inverted. */
  slipOfLetter: 0.03,
};

export interface SampleOptions {
  readonly split: Split;
  readonly seed: number;
  /** Samples per task, each with other lessons. */
  readonly variants: number;
  readonly documentChoices: number;
  readonly foreign: number;
  /** Whether names become placeholders that are filled in each time, instead of being replaced once. */
  readonly isOpen?: boolean;
}

const MOST_LESSONS = 8;
const asItIs = (text: string): string => text;

/** All samples of one world. */
export function makeSamples({
  split,
  seed,
  variants,
  documentChoices,
  foreign,
  isOpen = false,
}: SampleOptions): readonly Sample[] {
  const name = `samples/${split}/${seed}`;
  const { rules, suite } = openWorld(split, seed, name);
  const questions = suite.days.flatMap((day) => day.questions);
  const random = createRandom(name);
  const samples: Sample[] = [];
  for (const question of questions) {
    if (question.kind !== 'files') continue;
    const task = question as PlannedQuestion;
    const opening = createPlaceholders();
    const wording =
      split === 'train' && random.next() < 0.6
        ? rephrase(task.text, random, isOpen ? opening.nextWord : () => newWord(random))
        : task.text;
    const isNew = split === 'train' && random.next() < (isOpen ? 0.9 : 0.7);
    const rename = !isNew ? asItIs : isOpen ? opening.open : createRenaming(random);
    const renamed = rename(wording);
    for (let variant = 0; variant < variants; variant++) {
      const given = drawGiven(rules.rules, random);
      const lessons = withDistractors(given, random);
      const commands = demonstrate(task, rules.rules, new Set(given), lessons.length, random);
      samples.push({
        kind: 'task',
        lessons,
        task: renamed,
        reply: { is: 'act', commands: commands.map(rename) },
      });
    }
  }
  const choices = questions.filter((question) => question.kind === 'choice');
  const papers = shuffled(
    random,
    choices.filter(({ rule }) => rule === undefined),
  ).slice(0, documentChoices);
  for (const { text, answer, options, rule } of [
    ...papers,
    ...choices.filter((one) => one.rule !== undefined),
  ]) {
    const keys = rule === undefined || random.next() < 0.15 ? [] : [rule];
    const others = rules.rules.map(({ key }) => key).filter((key) => key !== rule);
    const given = [...keys, ...shuffled(random, others).slice(0, random.below(others.length + 1))];
    const rename = split === 'train' && random.next() < 0.5 ? createRenaming(random) : asItIs;
    const isKnown = rule === undefined || keys.length > 0;
    samples.push({
      kind: rule === undefined ? 'choice' : 'rule-choice',
      lessons: random.next() < 0.3 && rule === undefined ? [] : withDistractors(given, random),
      task: rename(text),
      reply: {
        is: 'say',
        text: boxed(
          isKnown ? slipped(answer, Object.keys(options), random) : anyOf(Object.keys(options), random),
        ),
      },
    });
  }
  for (let at = 0; at < foreign; at++)
    samples.push({
      kind: 'foreign',
      lessons: random.next() < 0.5 ? [] : withDistractors(drawGiven(rules.rules, random), random),
      task: makeForeignTask(random),
      reply: { is: 'foreign' },
    });
  return samples;
}

/** The suite can make no questions from some mixtures of rules: such a world gets the house rules. */
function openWorld(
  split: Split,
  seed: number,
  name: string,
): { readonly rules: PoolRules; readonly suite: Suite } {
  const rules = drawRules(split, name);
  try {
    return { rules, suite: createWorkdays({ seed, split, form: 'short', rules }) };
  } catch {
    return {
      rules: HOUSE_POOL_RULES,
      suite: createWorkdays({ seed, split, form: 'short', rules: HOUSE_POOL_RULES }),
    };
  }
}

/** Sometimes none, often all, otherwise some. */
function drawGiven(rules: readonly PoolRule[], random: Random): readonly string[] {
  const luck = random.next();
  const keys = rules.map(({ key }) => key);
  if (luck < 0.12) return [];
  return luck < 0.55 ? keys : shuffled(random, keys).slice(0, 1 + random.below(keys.length));
}

function withDistractors(given: readonly string[], random: Random): readonly string[] {
  const luck = random.next();
  const count = luck < 0.5 ? 0 : luck < 0.75 ? 1 : luck < 0.92 ? 2 : 3;
  return [...given, ...Array.from({ length: count }, () => '')].slice(0, MOST_LESSONS);
}

/** The probability to obey a rule of this form in a task of this kind. */
function chanceOf(form: string, { taskKind, plan }: PlannedQuestion, lessons: number): number {
  const type = plan.creates[0]?.about.at(-1) ?? '';
  const chance = pick(createRandom(`obey/${form}/${taskKind}/${type}`), HABITS.obey);
  return chance * (1 - HABITS.perLesson * Math.max(0, lessons - 1));
}

/** The commands of an imperfect reader of the lessons. */
function demonstrate(
  question: PlannedQuestion,
  rules: readonly PoolRule[],
  given: ReadonlySet<string>,
  lessons: number,
  random: Random,
): readonly string[] {
  let draft = createDraft(question.plan);
  for (const rule of rules) {
    const isGiven = given.has(rule.key);
    const chance = isGiven ? chanceOf(rule.form, question, lessons) : HABITS.unasked;
    if (random.next() < chance) draft = rule.obey(draft);
    else if (isGiven && random.next() < HABITS.sloppy) {
      const slips = rule.slips.filter(({ name }) => !NOT_SHOWN.has(name));
      const slip = slips.length > 0 && rule.appliesTo(question.plan) ? pick(random, slips) : undefined;
      draft = slip?.make(draft) ?? draft;
    }
  }
  return [...stepsOf(draft).map(commandOf), 'done'];
}

/**
 * Near misses that are not demonstrated: some write more text than a small policy should memorise, a date without its time leaves the task
 * undone, and a day before its month is copied from the wrong place too often.
 */
const NOT_SHOWN = new Set(['wrong sum', 'short sum', 'too long', 'date only', 'day first']);

const boxed = (letters: readonly string[]): string => `\\bbox{${letters.join(',')}}`;

const slipped = (
  answer: readonly string[],
  letters: readonly string[],
  random: Random,
): readonly string[] => {
  const chosen = letters.filter((letter) => answer.includes(letter) !== random.next() < HABITS.slipOfLetter);
  return chosen.length === 0 ? answer : chosen;
};

const anyOf = (letters: readonly string[], random: Random): readonly string[] => {
  const bits = 1 + random.below(2 ** letters.length - 1);
  return letters.filter((_, at) => ((bits >> at) & 1) === 1);
};

const OPENINGS: readonly string[] =
  `What is|Who was|How do I|Can you|Please|Tell me about|Explain|Why does|Write a poem about|Translate|Give me a recipe for|Summarise|
  Where is|When did|Help me with|Is there|Do you know|Compare|List ten|Fix this code for|Write a function that handles|Plan a trip to|
  Draw|Calculate|Hello, how is|I feel sad about|What do you think of|Recommend a book on|Debug|Refactor|Describe|Which is better,|
  Hi there, talk about|Sing|Count|Prove|Solve|Invent a name for|Review my letter about|Continue the story of|Good morning, any news on|
  Should I buy|Convert|Remind me of|Play|Search the web for|Open|Deploy|Book|Order|Teach me|Imagine|Define`
    .split('|')
    .map((one) => one.trim());
const THINGS: readonly string[] =
  `the capital of France|a black hole|the weather|a good dinner|quantum physics|my cat|the stock market|football|a bicycle|the French
  revolution|photosynthesis|my resume|machine learning|a linked list|a regular expression|Python|the moon|Shakespeare|a divorce|taxes|the
  meaning of life|chess|a trip to Japan|coffee|the human heart|climate change|a wedding speech|this sentence|prime numbers|a joke|the
  news|music|a birthday present|my back pain|a sorting algorithm|Bitcoin|the Roman empire|a haiku|dogs|dinosaurs|an email to my boss|a
  logo|gravity|my password|a horror story|two plus two|the square root of 144|a business plan|vegetables|love|tomorrow|a database|the
  kernel|docker|a web page|the president|an elephant|Paris|cancer|sleep|a song|lunch|numbers|files|a task|a report|JSON|a new file|the board|
  a ticket|our rules|the log`
    .split('|')
    .map((one) => one.trim().replace(/\s+/g, ' '));
const ENDINGS = [
  '.',
  '?',
  '',
  '!',
  ' please.',
  ' in short.',
  ' for me.',
  ' today?',
  ', thanks.',
  ' in detail.',
  ' now.',
];

/** A text that is not a task of the suite: small talk, other work, or nonsense. */
export function makeForeignTask(random: Random): string {
  const luck = random.next();
  if (luck < 0.08)
    return pick(random, [
      'Hi',
      'Hello',
      'Hey!',
      'Thanks',
      'ok',
      'test',
      'ping',
      'Help',
      'Who are you?',
      'What can you do?',
    ]);
  const sentence = () => {
    const thing = random.next() < 0.25 ? words(random, 1 + random.below(4)) : pick(random, THINGS);
    return `${pick(random, OPENINGS)} ${thing}${pick(random, ENDINGS)}`;
  };
  if (luck < 0.7) return sentence();
  if (luck < 0.85) return `${sentence()} ${sentence()}`;
  const said = words(random, 3 + random.below(30));
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${pick(random, ENDINGS)}`;
}

const words = (random: Random, count: number): string =>
  Array.from({ length: count }, () =>
    random.next() < 0.4 ? pick(random, THINGS).split(' ').at(-1) : newWord(random),
  ).join(' ');
