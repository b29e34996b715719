import type { FailureCase } from '../../core/learn.ts';
import type { LessonText, Note } from '../../core/lesson.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { confidenceOf, importanceOf, sharedScope } from '../draft-lesson.ts';
import { earlierQuotes, keepQuotes } from './keep-quotes.ts';
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
    content: keepQuotes(content, failures, earlierQuotes(skill.lessons)),
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
    ...(old?.isAlways === true || (skill.isAlways && isToldByPeople(failures)) ? { isAlways: true } : {}),
  };
}

/** What was said in the chat, or only seen, is for the work it was said about: it never becomes a rule for every task. */
const isToldByPeople = (failures: readonly FailureCase[]): boolean =>
  failures.length > 0 && failures.every(({ source }) => source === 'person' || source === 'verifier');
