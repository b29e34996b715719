import type { Lesson, LessonText } from '../core/lesson.ts';
import { TEAM } from '../core/principal.ts';
import { oneLine } from '../text/visible-text.ts';

/** Learners that write down what was said. Their lessons are a person's word where they quote a person, whatever `source` says. */
const QUOTING_LEARNERS: ReadonlySet<string> = new Set(['distiller', 'notes', 'evolver']);
/** Nobody of this home said these words: they came with the program, or were copied for others by a measurement. Versions before this one had four of them. */
const NOBODYS_LEARNERS: ReadonlySet<string> = new Set([
  'starter',
  'transfer',
  'team',
  'practice',
  'overview',
]);

/**
 * Whether a lesson is a person's word: said in the chat or in feedback, written into a file or on the page. It is in force at once where it
 * was said, is never held out, and is ended or reworded by that person only, never by a measurement or a model. A lesson that a model
 * wrote from a correction is one as long as it quotes the correction. What a check said, a starter skill and the team's copy are none.
 */
export function isPersonsWord({ text }: Pick<Lesson, 'text'>): boolean {
  const before = answers.get(text);
  if (before !== undefined) return before;
  const answer = isToldText(text);
  answers.set(text, answer);
  return answer;
}

/** By the text, which never changes: recall asks for every candidate. */
const answers = new WeakMap<LessonText, boolean>();

function isToldText(text: LessonText): boolean {
  const { note, evidence, scope } = text;
  if (scope.member === TEAM || NOBODYS_LEARNERS.has(evidence.learner)) return false;
  if (QUOTING_LEARNERS.has(evidence.learner) && quotedWords(text).length > 0) return true;
  return note.source === 'told' && !CHECKS_WORDS.test(text.content);
}

/** The words of a person that a lesson has: its quotes of them, or the whole text that they wrote. */
export function personsWords(lesson: Pick<Lesson, 'text'>): readonly string[] {
  if (!isPersonsWord(lesson)) return [];
  const quotes = quotedWords(lesson.text);
  return quotes.length > 0 ? quotes : [lesson.text.content.trim()];
}

/** Whether a text still has all the words of a person that a lesson has, letter by letter. */
export function keepsPersonsWords(text: Pick<LessonText, 'content'>, lesson: Pick<Lesson, 'text'>): boolean {
  const content = oneLine(text.content.replace(/^> /gm, ''));
  return personsWords(lesson).every((words) => content.includes(oneLine(words)));
}

const CHECKS_WORDS = /^A check said(?:, \d{1,4} times)?:/;
const HEAD = /^The user said(?:, \d{1,4} times)?:$|^Said earlier on the same matter:$/;
const LINE = /^[ \t]*(?:[-*>][ \t]+)?The user said: "(.+)"(?: \(\d{1,4} times\))?$/gm;

/** Sentences under the heading of a quote, and lines that quote; not the task, the agent's answer, or what a check said. */
function quotedWords({ content }: Pick<LessonText, 'content'>): readonly string[] {
  const quotes: string[] = [];
  let isQuote = false;
  for (const block of content.split('\n\n'))
    if (!block.startsWith('> ')) isQuote = HEAD.test(block);
    else if (isQuote) quotes.push(block.replace(/^> /gm, ''));
  return [...quotes, ...[...content.matchAll(LINE)].map(([, quote = '']) => quote)];
}
