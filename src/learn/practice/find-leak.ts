import { asArray, asObject, isObject, type Json } from '../../core/json.ts';
import type { PracticeTask } from '../../core/practice.ts';

/** From this length on a text is compared by runs of words: nobody repeats all of it. */
const LONG = 60;
const RUN_OF_WORDS = 8;
const MOST_ANSWERS = 200;
const LONGEST_PATTERN = 400;
/** Words that any sentence may contain: they are an answer only where they stand as one. */
const EVERYDAY = /^(?:yes|no|true|false|none|null|ok|left|right|up|down|before|after|and|not|all)$/;

/** The right answers to a task, as far as its reference and its check name them, and as far as its own words do not. */
export function answersOf({ reference, check, prompt }: PracticeTask): readonly string[] {
  const { expected, answers: several } = asObject(check);
  const named = [expected, ...asArray(several).map(expectedOf)];
  const leaves = [reference, ...named].flatMap((one) => (one === undefined ? [] : leavesOf(one)));
  const words = plain(prompt);
  const answers = leaves.map(plain).filter((answer) => answer !== '' && !isIn(answer, words));
  return [...new Set(answers)].slice(0, MOST_ANSWERS);
}

const expectedOf = (answer: Json): Json | undefined => (isObject(answer) ? answer.expected : undefined);

function leavesOf(value: Json, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (depth > 6 || value === null || typeof value === 'boolean') return [];
  const members = Array.isArray(value) ? value : Object.values(value);
  return members.flatMap((one: Json | undefined) => (one === undefined ? [] : leavesOf(one, depth + 1)));
}

/** The answer that a text gives away; undefined when it gives none. What is learned must help with other tasks. */
export function findLeak(text: string, answers: readonly string[]): string | undefined {
  const words = plain(text);
  return answers.find((answer) =>
    answer.length > LONG
      ? sharesRun(words, answer)
      : isShort(answer)
        ? standsAsAnswer(answer, words)
        : isIn(answer, words),
  );
}

/** A verifier's words without the answers, so that they do not reach a learner. */
export function hideAnswers(text: string, answers: readonly string[]): string {
  let shown = text;
  for (const answer of answers.filter(isPattern).toSorted((a, b) => b.length - a.length))
    shown = shown.replace(bounded(answer, 'giu'), '[answer]');
  return shown;
}

const plain = (text: string): string =>
  text.normalize('NFKC').toLowerCase().split(/\s+/).filter(Boolean).join(' ');

const isShort = (answer: string): boolean =>
  answer.length < 3 || /^-?\d{1,2}$/.test(answer) || EVERYDAY.test(answer);

/** A page of text is no pattern. */
const isPattern = ({ length }: string): boolean => length <= LONGEST_PATTERN;

const isIn = (answer: string, words: string): boolean =>
  isPattern(answer) ? bounded(answer, 'u').test(words) : words.includes(answer);

/** The answer as a whole: `12` is not in `112`. White space may differ. */
const bounded = (answer: string, flags: string): RegExp => {
  const parts = answer.split(' ').map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\p{N}])${parts.join('\\s+')}(?![\\p{L}\\p{N}])`, flags);
};

const standsAsAnswer = (answer: string, words: string): boolean =>
  [...words.matchAll(bounded(answer, 'gu'))].some(({ index }) =>
    /(?:answers?|results?|solutions?|totals?|outputs?|equals?|returns?|=)(?:\s+(?:is|are|was|should be|must be|with|to))?[\s:"'`*({[]{0,4}$/.test(
      words.slice(Math.max(0, index - 40), index),
    ),
  );

function sharesRun(words: string, answer: string): boolean {
  const list = answer.split(' ');
  for (let from = 0; from + RUN_OF_WORDS <= list.length; from++)
    if (words.includes(list.slice(from, from + RUN_OF_WORDS).join(' '))) return true;
  return list.length < RUN_OF_WORDS && words.includes(answer);
}
