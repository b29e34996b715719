import { Buffer } from 'node:buffer';
import type { FailureCase, Passage } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import { oneLine } from '../../text/visible-text.ts';
import { readLesson } from '../distiller/write-lesson.ts';
import {
  confidenceOf,
  draftLesson,
  findQuote,
  importanceOf,
  reviseLesson,
  sharedScope,
  wordsAbout,
} from '../draft-lesson.ts';
import { cutAtSentence } from '../reply-fields.ts';
import { standsInEveryTask } from '../rule-reach.ts';
import { coversRemark } from './check-skill.ts';
import type { ProposedSkill } from './read-skills.ts';

const MOST_QUOTES = 4;
const LONGEST_QUOTE = 240;
const LARGEST_CONTENT = 7900;

/** A line that puts words into somebody's mouth. */
const SAID =
  /^\s*(?:[-*>]\s+)?(?:\*\*)?(?:the\s+)?(?:user|person|verifier|customer|check)s?\s+(?:said|says|asked|wrote|told|corrected)[^:"“\n]{0,60}:(?:\*\*)?\s*["“'‘«](.{2,2000}?)["”'’»]\s*(?:\([^()\n]{0,60}\))?[.]?\s*$/i;

/** The words of people about the failures, each once, with how often they were said: the most frequent first. */
export function countSayings(
  failures: readonly FailureCase[],
): readonly (Passage & { readonly times: number; readonly turns: readonly string[] })[] {
  const counted = new Map<string, Passage & { times: number; turns: string[] }>();
  for (const failure of failures)
    for (const { origin, text } of wordsAbout(failure)) {
      const key = oneLine(text).toLowerCase();
      const known = counted.get(key);
      if (known === undefined) counted.set(key, { origin, text, times: 1, turns: [failure.turn] });
      else {
        known.times++;
        known.turns.push(failure.turn);
      }
    }
  return [...counted.values()].sort((a, b) => b.times - a.times);
}

const MOST_EARLIER = 8;

/** What the lessons that a skill takes the place of quote. */
const earlierQuotes = (lessons: readonly Lesson[]): readonly string[] =>
  lessons
    .flatMap(({ text }) => [
      ...(readLesson(text)?.quotes ?? []),
      ...text.content.split('\n').flatMap((line) => SAID.exec(line)?.[1] ?? []),
    ])
    .slice(0, MOST_EARLIER);

/**
 * A lesson's text with what people said, letter by letter. A line of the model that quotes somebody stays only if it was recorded
 * so: nobody is given words that they did not say. The words that are missing are added.
 */
function keepQuotes(
  content: string,
  failures: readonly FailureCase[],
  earlier: readonly string[] = [],
): string {
  const words = countSayings(failures);
  const sayings = [
    ...words.map(({ text }) => text),
    ...earlier,
    ...failures.flatMap(({ task, passages, trajectory = [] }) => [
      task,
      ...passages.filter(({ origin }) => origin === 'user').map(({ text }) => text),
      ...trajectory.flatMap((step) => (step.kind === 'message' && step.origin === 'user' ? [step.text] : [])),
    ]),
  ];
  const lines: string[] = [];
  for (const line of content.split('\n')) {
    const quoted = SAID.exec(line)?.[1];
    const found =
      quoted === undefined ? undefined : (findQuote(quoted, sayings) ?? sameShort(quoted, sayings));
    if (quoted === undefined) lines.push(line);
    else if (found !== undefined) lines.push(`The user said: "${oneLine(found)}"`);
  }
  const kept = lines.join('\n').trimEnd();
  const said = oneLine(kept);
  const missing = words
    .slice(0, MOST_QUOTES)
    .map((one) => ({ ...one, text: cutAtSentence(oneLine(one.text), LONGEST_QUOTE).replace(/…$/, '') }))
    .filter(({ text }) => !said.includes(text) && coversRemark(kept, text));
  const added = missing.map(
    ({ origin, text, times }) =>
      `${origin === 'verifier' ? 'The check said' : 'The user said'}: "${text}"${times > 1 ? ` (${times} times)` : ''}`,
  );
  const before = earlier
    .map((quote) => oneLine(quote))
    .filter((quote) => ![said, ...added].some((line) => line.includes(quote)))
    .map((quote) => `The user said: "${quote}"`);
  const whole = [kept, ...added, ...new Set(before)].join('\n');
  return Buffer.byteLength(whole) > LARGEST_CONTENT ? kept : whole;
}

/** A quote of a few letters is the whole of what was said, or it is none. */
const sameShort = (quoted: string, sayings: readonly string[]): string | undefined =>
  sayings.find((text) => oneLine(text).toLowerCase() === oneLine(quoted).toLowerCase());

/** The lesson text of a skill, with the words of the people it rests on and those that the lessons in its place quoted. */
export function draftSkillText(
  skill: ProposedSkill,
  failures: readonly FailureCase[],
  halfLifeDays: number,
): LessonText {
  const { name, description, content, category, triggers, lessons } = skill;
  const text = draftLesson({
    name,
    description,
    content: keepQuotes(content, failures, earlierQuotes(lessons)),
    category,
    scope: sharedScope(failures.map(({ scope }) => scope)),
    context: failures[0]?.request ?? failures[0]?.task,
    triggers,
    importance: importanceOf(failures),
    confidence: confidenceOf(failures),
    source: 'experience',
    halfLifeDays,
    ...(isForEveryTask(skill, failures) ? { isAlways: true } : {}),
    learner: 'evolver',
    turns: failures.map(({ turn }) => turn),
  });
  const [old, ...merged] = lessons;
  if (old === undefined) return text;
  return reviseLesson(
    [old.text, ...merged.map((one) => one.text)],
    text,
    merged.map(({ id }) => id),
  );
}

/** Where people say so in their own words; of feedback also where the model says so. */
const isForEveryTask = (skill: ProposedSkill, failures: readonly FailureCase[]): boolean =>
  (skill.isAlways && isToldByPeople(failures)) ||
  countSayings(failures).some(({ origin, text }) => origin !== 'verifier' && standsInEveryTask(text));

const isToldByPeople = (failures: readonly FailureCase[]): boolean =>
  failures.length > 0 && failures.every(({ source }) => source === 'person' || source === 'verifier');
