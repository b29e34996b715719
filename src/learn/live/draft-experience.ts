import { createHash } from 'node:crypto';
import type { FailureCase } from '../../core/learn.ts';
import type { LessonText, Scope } from '../../core/lesson.ts';
import { topicWords } from '../../text/topic-words.ts';
import { draftLesson, importanceOf, situationLine } from '../draft-lesson.ts';
import type { SuccessfulTurn } from './live-material.ts';

const IMPORTANCE_OF_SUCCESS = 0.4;

export interface Experience {
  readonly name: string;
  /** When it helps, in one sentence. */
  readonly description: string;
  readonly content: string;
  readonly keywords: readonly string[];
  /** How tasks that need it may be worded. */
  readonly triggers?: readonly string[];
  readonly scope: Scope;
  /** Its evidence. */
  readonly failures: readonly FailureCase[];
  readonly successes: readonly SuccessfulTurn[];
}

/** The lesson text of an experience. */
export const draftExperience = (experience: Experience, halfLifeDays: number): LessonText => {
  const { failures, successes, ...words } = experience;
  return draftLesson({
    ...words,
    description: situationLine(words.description),
    keywords: words.keywords.length === 0 ? undefined : words.keywords,
    context: (failures[0] ?? successes[0])?.task,
    importance: failures.length === 0 ? IMPORTANCE_OF_SUCCESS : importanceOf(failures),
    confidence: contrastOf(failures, successes),
    source: 'experience',
    halfLifeDays,
    learner: 'live',
    turns: [...failures, ...successes].map(({ turn }) => turn),
  });
};

/**
 * How certain the contrast is: the mean of 1 − reward over the failures and of the reward over the successes. A missing
 * reward counts as 0.5.
 */
function contrastOf(failures: readonly FailureCase[], successes: readonly SuccessfulTurn[]): number {
  const share = (reward: number | undefined): number => Math.min(1, Math.max(0, reward ?? 0.5));
  const certainties = [
    ...failures.map(({ appraisal }) => 1 - share(appraisal.reward)),
    ...successes.map(({ reward }) => share(reward)),
  ];
  return certainties.length === 0 ? 0 : certainties.reduce((sum, one) => sum + one, 0) / certainties.length;
}

const MOST_WORDS = 5;
const LONGEST = 44;

/** A lesson name from the content words of a text; text without Latin letters is named by its hash. */
export function nameExperience(text: string): string {
  const words = topicWords(text.normalize('NFKD').replace(/\p{M}/gu, ''))
    .filter((word) => /^[a-z0-9]{2,24}$/.test(word))
    .filter((word, index, all) => all.indexOf(word) === index);
  const first = words.findIndex((word) => /^[a-z]/.test(word));
  const chosen = first < 0 ? [] : words.slice(first, first + MOST_WORDS);
  while (chosen.length > 1 && chosen.join('-').length > LONGEST) chosen.pop();
  if (chosen.length > 0) return chosen.join('-');
  return `experience-${createHash('sha256').update(text).digest('hex').slice(0, 10)}`;
}
