import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CoveredByLesson, FailureCase, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText, Scope } from '../../core/lesson.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { topicWords } from '../../text/topic-words.ts';
import {
  draftLesson,
  importanceOf,
  MOST_LINKS,
  reviseLesson,
  situationLine,
  uniqueLessonName,
} from '../draft-lesson.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';
import type { SuccessfulTurn } from './live-material.ts';

export const STATE_ORDER = { live: 0, trial: 1, proposed: 2, retired: 3, rejected: 3 } as const;

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

interface PlacedExperience {
  readonly text: LessonText;
  readonly quotes: Proposal['quotes'];
  /** Lessons that say the same. */
  readonly same: readonly Lesson[];
  /** Lessons that what happened shows to be wrong now. */
  readonly wrong: readonly Lesson[];
}

/**
 * What is to be done in the library for an experience: it becomes a new lesson, a better version of the one that says the same,
 * or takes the place of several. Lessons that it shows to be wrong are retired in its favour, with a link.
 */
export function* placeExperience(
  { text, quotes, same, wrong }: PlacedExperience,
  lessons: readonly Lesson[],
  newId: (prefix: string) => string,
): Generator<Proposal | CoveredByLesson> {
  const { turns } = text.evidence;
  const open = same
    .filter(({ state, frozen, kind }) => isActive(state) && !frozen && kind === 'experience')
    .filter((lesson) => !isPersonsWord(lesson))
    .filter(({ text: { scope } }) => isDeepStrictEqual(scope, text.scope))
    .toSorted((a, b) => STATE_ORDER[a.state] - STATE_ORDER[b.state] || a.createdAt - b.createdAt);
  const [into, ...others] = open;
  const saysIt = same.find(
    (lesson) =>
      isActive(lesson.state) &&
      (lesson.text.content === text.content ||
        (isPersonsWord(lesson) && isDeepStrictEqual(lesson.text.scope, text.scope))),
  );
  if (saysIt !== undefined) return yield { known: saysIt.id, turns };
  const absorbed = others.filter((lesson) => whyNotRetired(lesson) === undefined);
  const gone = wrong
    .filter(({ id }) => !open.some((lesson) => lesson.id === id))
    .filter((lesson) => whyNotRetired(lesson) === undefined);
  const taken = new Set(lessons.filter(({ state }) => isActive(state)).map((lesson) => lesson.text.name));
  const links = gone.map(({ id }) => id);
  const id = into?.id ?? newId('lesson');
  if (into === undefined) {
    const name = uniqueLessonName(text.name, taken);
    const added = {
      ...text,
      name,
      note: { ...text.note, links: [...text.note.links, ...links].slice(0, MOST_LINKS) },
    };
    yield { change: { op: 'add', id, kind: 'experience', state: 'proposed', text: added }, quotes };
  } else {
    const revised = reviseLesson([into.text], text, [...absorbed.map((lesson) => lesson.id), ...links]);
    const { revision: from } = into;
    const change: Proposal['change'] =
      absorbed.length === 0
        ? { op: 'revise', id, from, text: revised }
        : { op: 'merge', ids: [id, ...absorbed.map((lesson) => lesson.id)], into: id, from, text: revised };
    yield { change, quotes };
  }
  for (const lesson of gone)
    yield {
      change: {
        op: 'retire',
        id: lesson.id,
        reason: 'what it advises failed, and something else worked',
        supersededBy: id,
      },
      quotes: [],
      turns,
    };
}

const isActive = (state: Lesson['state']): boolean => state !== 'retired' && state !== 'rejected';
