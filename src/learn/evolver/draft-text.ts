import type { FailureCase } from '../../core/learn.ts';
import type { LessonText, Note } from '../../core/lesson.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../plain-text.ts';
import { sharedScope } from '../shared-scope.ts';
import { confidenceOf, importanceOf } from '../weigh-failures.ts';
import { keywordsOf } from '../words.ts';
import type { ReadSkill } from './read-skills.ts';

const MOST_TURNS = 64;

/** The failures that a skill quotes; when it quotes none, all that the model was shown. */
export function restingOn(
  quotes: readonly { readonly turn: string }[],
  failures: readonly FailureCase[],
): readonly FailureCase[] {
  const turns = new Set(quotes.map(({ turn }) => turn));
  return turns.size === 0 ? failures : failures.filter(({ turn }) => turns.has(turn));
}

/** The lesson text of a skill. A revision keeps the name, scope and note of the old one: a learner may improve a text, not widen its scope. */
export function draftText(
  skill: ReadSkill,
  failures: readonly FailureCase[],
  halfLifeDays: number,
): LessonText {
  const old = skill.lesson?.text;
  const { name, description, content, category } = skill;
  const turns = [...new Set([...(old?.evidence.turns ?? []), ...failures.map(({ turn }) => turn)])];
  return {
    name: old?.name ?? name,
    description,
    content,
    category,
    scope: old?.scope ?? sharedScope(failures.map(({ scope }) => scope)),
    note: draftNote(skill, failures, halfLifeDays),
    evidence: {
      turns: turns.slice(-MOST_TURNS),
      quotes: old?.evidence.quotes ?? [],
      learner: 'evolver',
    },
    taint: old?.taint ?? [],
  };
}

function draftNote(skill: ReadSkill, failures: readonly FailureCase[], halfLifeDays: number): Note {
  const old = skill.lesson?.text.note;
  const context = truncateEnd(oneLine(failures[0]?.task ?? ''), 300);
  return {
    ...(context === '' ? {} : { context }),
    keywords: keywordsOf(`${skill.name} ${skill.description} ${skill.content}`),
    tags: old?.tags ?? [],
    importance: Math.max(old?.importance ?? 0, importanceOf(failures)),
    confidence: confidenceOf(failures),
    source: old?.source ?? 'experience',
    visibility: old?.visibility ?? 'scoped',
    halfLifeDays: old?.halfLifeDays ?? halfLifeDays,
    links: old?.links ?? [],
  };
}
