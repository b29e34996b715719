import type { FailureCase } from '../../core/learn.ts';
import type { LessonText } from '../../core/lesson.ts';
import { confidenceOf, draftLesson, importanceOf, reviseLesson, sharedScope } from '../draft-lesson.ts';
import { standsInEveryTask } from '../rule-reach.ts';
import { countSayings, earlierQuotes, keepQuotes } from './keep-quotes.ts';
import type { ProposedSkill } from './read-skills.ts';

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
