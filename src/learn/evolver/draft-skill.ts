import type { FailureCase } from '../../core/learn.ts';
import type { Lesson, LessonText, Note } from '../../core/lesson.ts';
import { keepsPersonsWords, personsWords } from '../../lessons/told.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { confidenceOf, importanceOf, sharedScope } from '../draft-lesson.ts';
import { standsInEveryTask } from '../rule-reach.ts';
import { countSayings, keepQuotes } from './keep-quotes.ts';
import type { ProposedSkill } from './read-skills.ts';

const MOST_TURNS = 64;
const MOST_TRIGGERS = 8;
const MOST_LINKS = 32;

/**
 * The lesson text of a skill, with the words of the people it rests on. A revision keeps the name, scope and note of the old one:
 * a learner may improve a text, not widen its scope.
 */
export function draftSkillText(
  skill: ProposedSkill,
  failures: readonly FailureCase[],
  halfLifeDays: number,
): LessonText {
  const old = skill.lessons[0]?.text;
  const { name, description, content, category } = skill;
  const cited = skill.lessons.flatMap(({ text }) => text.evidence.turns);
  const turns = [...new Set([...cited, ...failures.map(({ turn }) => turn)])];
  return {
    name: old?.name ?? name,
    description,
    content: withWordsOf(skill.lessons, keepQuotes(content, failures)),
    category,
    scope: old?.scope ?? sharedScope(failures.map(({ scope }) => scope)),
    note: draftNote(skill, failures, halfLifeDays),
    evidence: {
      turns: turns.slice(-MOST_TURNS),
      quotes: old?.evidence.quotes ?? [],
      learner: 'evolver',
    },
    taint: [...new Set(skill.lessons.flatMap(({ text }) => text.taint))],
  };
}

/** A text with the words of people that the lessons had which it revises: a model may add to them, and takes none away. */
function withWordsOf(lessons: readonly Lesson[], content: string): string {
  const missing = lessons
    .filter((lesson) => !keepsPersonsWords({ content }, lesson))
    .flatMap(personsWords)
    .map(oneLine)
    .filter((words) => !oneLine(content).includes(words));
  return [content, ...new Set(missing.map((words) => `The user said: "${words}"`))].join('\n');
}

function draftNote(skill: ProposedSkill, failures: readonly FailureCase[], halfLifeDays: number): Note {
  const old = skill.lessons[0]?.text.note;
  const context = truncateEnd(oneLine(failures[0]?.request ?? failures[0]?.task ?? ''), 300);
  const triggers = [...new Set([...skill.triggers, ...(old?.triggers ?? [])])].slice(0, MOST_TRIGGERS);
  const links = [...new Set([...(old?.links ?? []), ...skill.lessons.slice(1).map(({ id }) => id)])];
  return {
    ...(context === '' ? {} : { context }),
    keywords: keywordsOf(`${skill.name} ${skill.description} ${skill.content}`),
    tags: old?.tags ?? [],
    importance: Math.max(old?.importance ?? 0, importanceOf(failures)),
    confidence: confidenceOf(failures),
    source: old?.source ?? 'experience',
    visibility: old?.visibility ?? 'scoped',
    halfLifeDays: old?.halfLifeDays ?? halfLifeDays,
    links: links.slice(0, MOST_LINKS),
    ...(triggers.length === 0 ? {} : { triggers }),
    ...(old?.isAlways === true || isForEveryTask(skill, failures) ? { isAlways: true } : {}),
  };
}

/** Where people say so in their own words; of feedback also where the model says so. */
const isForEveryTask = (skill: ProposedSkill, failures: readonly FailureCase[]): boolean =>
  (skill.isAlways && isToldByPeople(failures)) ||
  countSayings(failures).some(({ origin, text }) => origin !== 'verifier' && standsInEveryTask(text));

const isToldByPeople = (failures: readonly FailureCase[]): boolean =>
  failures.length > 0 && failures.every(({ source }) => source === 'person' || source === 'verifier');
