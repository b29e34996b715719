import { isDeepStrictEqual } from 'node:util';
import type { FailureCase } from '../../core/learn.ts';
import { isInUse, type Lesson } from '../../core/lesson.ts';
import {
  contradicts,
  hasOtherValue,
  isSameInWords,
  type Likeness,
  type RuleWords,
  readRuleWords,
  UNKNOWN_LIKENESS,
} from '../compare-words.ts';
import { mayScopesOverlap } from '../draft-lesson.ts';
import { isAlikeMost, type Sayings } from './group-sayings.ts';
import { coversMatter, isNearMatter, mayCoverMatter, readMatter } from './matter.ts';
import type { Saying } from './sayings.ts';
import { takesBack } from './take-back.ts';
import { type QuotedLesson, readLesson } from './write-lesson.ts';

/** The name of this learner in the evidence of its lessons. */
export const DISTILLER = 'distiller';

/** A lesson of the library with what it is about. */
export interface ComparedLesson {
  readonly lesson: Lesson;
  /** Present for a lesson of this learner. */
  readonly quoted?: QuotedLesson;
  /** Each quote, or the whole text. */
  readonly words: readonly RuleWords[];
}

/** Lessons that may apply where the failures happened. */
export const lessonsNear = (
  failures: readonly FailureCase[],
  lessons: readonly Lesson[],
): readonly Lesson[] =>
  lessons
    .filter(({ state }) => state !== 'retired')
    .filter(({ text }) => failures.some(({ scope }) => mayScopesOverlap(scope, text.scope)));

export const isTold = ({ text }: Lesson): boolean => text.note.source === 'told';

export const isOwn = ({ kind, frozen, text }: Lesson): boolean =>
  kind === 'skill' && !frozen && text.evidence.learner === DISTILLER;

const isQuoting = ({ text }: Lesson): boolean => text.evidence.learner === DISTILLER;
const wholeText = ({ text }: Lesson): string => `${text.description}\n${text.content}`;

/** Lessons of others that share too little with all that was said teach nothing of it, and are not read. */
export const lessonsToRead = (lessons: readonly Lesson[], said: readonly Saying[]): readonly Lesson[] =>
  lessons.filter(
    (lesson) => isQuoting(lesson) || said.some(({ matter }) => mayCoverMatter(wholeText(lesson), matter)),
  );

export function readKnown(lesson: Lesson): ComparedLesson {
  const quoted = isQuoting(lesson) ? readLesson(lesson.text) : undefined;
  if (quoted === undefined) {
    const text = wholeText(lesson);
    return { lesson, words: [{ quote: text, matters: [readMatter(text)], values: [], terms: new Set() }] };
  }
  return { lesson, quoted, words: quoted.quotes.map((quote) => readRuleWords(quote, quoted.tasks)) };
}

/** About 5 kB each. Of a larger library the others are read again each time. */
const MOST_REMEMBERED = 4_000;

/** Reads lessons, and those that were read the last time and have not changed since not again. */
export function createReadKnown(): (lessons: readonly Lesson[]) => readonly ComparedLesson[] {
  let remembered: ReadonlyMap<Lesson, ComparedLesson> = new Map();
  return (lessons) => {
    const next = new Map<Lesson, ComparedLesson>();
    const known = lessons.map((lesson) => {
      const one = remembered.get(lesson) ?? readKnown(lesson);
      if (next.size < MOST_REMEMBERED) next.set(lesson, one);
      return one;
    });
    remembered = next;
    return known;
  };
}

/** Lessons that are compared by meaning: each takes the sentence model some 50 ms the first time. */
const MOST_COMPARED = 300;

/** Of a large library the lessons that share the most words with what was said, and of those the newest. */
export function nearestByWords(
  lessons: readonly ComparedLesson[],
  sayings: readonly Saying[],
): readonly ComparedLesson[] {
  if (lessons.length <= MOST_COMPARED) return lessons;
  const said = new Set(sayings.flatMap(({ matter }) => [...matter.terms.keys()]));
  const shared = ({ words }: ComparedLesson): number =>
    [...new Set(words.flatMap(({ matters }) => matters.flatMap(({ terms }) => [...terms.keys()])))].filter(
      (term) => said.has(term),
    ).length;
  return lessons
    .map((one) => ({ one, shared: shared(one), at: one.lesson.changedAt }))
    .sort((a, b) => b.shared - a.shared || b.at - a.at)
    .slice(0, MOST_COMPARED)
    .map(({ one }) => one);
}

/** A lesson that quotes is compared quote by quote, with all that was said. */
const teaches = (
  { quoted, words }: ComparedLesson,
  group: Sayings,
  likeness: Likeness,
  wasShown: boolean,
): boolean =>
  quoted === undefined
    ? words.some(({ matters }) => matters.some((text) => coversMatter(text, group[0].matter)))
    : group.some(
        (saying) =>
          words.some((one) => isSameInWords(one, saying)) || isAlikeMost(words, saying, likeness, wasShown),
      );

const nearestOf = (
  alike: readonly ComparedLesson[],
  { quote }: Saying,
  likeness: Likeness,
): ComparedLesson | undefined => {
  const near = ({ words }: ComparedLesson): number =>
    Math.max(...words.map((one) => likeness(one.quote, quote)?.nearest ?? 0));
  return alike.toSorted((a, b) => near(b) - near(a))[0];
};

/** The lessons that say what was said, and the one of them that it is said again of. `shown`: what the answers were given with. */
export function findSameRule(
  holding: readonly ComparedLesson[],
  group: Sayings,
  likeness: Likeness,
  shown: ReadonlySet<string>,
): { readonly alike: readonly ComparedLesson[]; readonly same: ComparedLesson | undefined } {
  const alike = holding.filter((one) => teaches(one, group, likeness, shown.has(one.lesson.id)));
  const same =
    alike.find(({ lesson }) => lesson.state === 'rejected' || !isOwn(lesson)) ??
    nearestOf(alike, group[0], likeness) ??
    holding.find((one) => shown.has(one.lesson.id) && isNearLesson(one, group[0]));
  return { alike, same };
}

/**
 * What was said and what the lessons of this learner quote, to be compared by meaning. None where words decide: nothing was said in two
 * ways, and no lesson could say it too.
 */
export function quotesToCompare(
  groups: readonly { readonly sayings: Sayings }[],
  lessons: readonly ComparedLesson[],
): readonly string[] {
  const known = lessons.filter(({ quoted }) => quoted !== undefined);
  const isKnown = ({ sayings }: (typeof groups)[number]): boolean =>
    known.some((one) => teaches(one, sayings, UNKNOWN_LIKENESS, false));
  const open = groups.filter((group) => !isKnown(group));
  if (open.length === 0 || (open.length === 1 && known.length === 0)) return [];
  const said = open.flatMap(({ sayings }) => sayings);
  const near = nearestByWords(known, said);
  return [...said.map(({ quote }) => quote), ...near.flatMap(({ quoted }) => quoted?.quotes ?? [])];
}

/** A lesson of the same place that says the same rule. Into one that waits for approval it would leave the prompts. */
export const mayBeTakenIn = ({ lesson }: ComparedLesson, { lesson: into }: ComparedLesson): boolean =>
  isOwn(lesson) &&
  !lesson.pinned &&
  isInUse(lesson) &&
  isInUse(into) &&
  isDeepStrictEqual(lesson.text.scope, into.text.scope);

const isNearLesson = ({ quoted, words }: ComparedLesson, saying: Saying): boolean =>
  quoted !== undefined &&
  saying.isCase !== true &&
  words
    .filter((one) => !hasOtherValue(one, saying))
    .flatMap(({ matters }) => matters)
    .some((one) => isNearMatter(one, saying.matter) && !contradicts(saying.matter, one));

/** Only the words that hold now can be taken back. */
export const isTakenBack = ({ quoted, words: [lead] }: ComparedLesson, saying: Saying): boolean =>
  quoted !== undefined && lead !== undefined && takesBack(saying, lead);
