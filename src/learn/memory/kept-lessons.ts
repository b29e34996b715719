import { isInUse, type Lesson, PROMPT_KINDS } from '../../core/lesson.ts';
import type { LessonEvent } from '../../core/library.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { isTold } from '../distiller/known-lessons.ts';
import { readLesson } from '../distiller/write-lesson.ts';
import { BY_PEOPLE } from '../gate/judge-retirement.ts';

/** What the rules of consolidation know about lessons. */
export interface LessonFacts {
  /** Measured to help, in sessions or in a trial. */
  readonly isProven: (lesson: Lesson) => boolean;
  /** A trial of its present text has begun: a new revision would begin it again. */
  readonly isMeasured: (lesson: Lesson) => boolean;
  readonly history: (id: string) => readonly LessonEvent[];
  /** The lessons that were merged into one. */
  readonly absorbed: (id: string) => readonly Lesson[];
  readonly now: number;
  /** A person asked for the consolidation: lessons that people wrote or imported may change, too. */
  readonly isAsked: boolean;
}

const DAY_MS = 86_400_000;
/** For so long nothing that a person told, changed or restored is retired. */
const RESPECTED_MS = 90 * DAY_MS;

/** Why a lesson stays, whatever else is found; undefined for one that a rule may retire. */
export function whyKept(lesson: Lesson, facts: LessonFacts): string | undefined {
  const { pinned, frozen, state, kind, text } = lesson;
  if (pinned) return 'it is pinned';
  if (frozen) return 'it is frozen';
  if (!isInUse(lesson) || !PROMPT_KINDS.has(kind) || kind === 'identity') return 'it is not advice in use';
  if (state === 'live' && facts.isProven(lesson)) return 'it was measured to help';
  if (!facts.isAsked && BY_PEOPLE.has(text.evidence.learner)) return 'a person wrote it';
  return undefined;
}

/** Whether a person told, changed or restored it within 90 days. */
export function isFresh(lesson: Lesson, facts: LessonFacts): boolean {
  const touched = facts
    .history(lesson.id)
    .reduce(
      (last, { at, by }) => (by.kind === 'person' ? Math.max(last, at) : last),
      Number.NEGATIVE_INFINITY,
    );
  const since = isTold(lesson) ? Math.max(touched, wordsSince(lesson, facts)) : touched;
  return Math.abs(facts.now - since) < RESPECTED_MS;
}

/**
 * When the words that a lesson has were learned, or told, last: also in a lesson that it absorbed. Links, tags and evidence do not
 * count, nor does it renew what a person told when something like it was learned.
 */
export function wordsSince(lesson: Lesson, facts: Pick<LessonFacts, 'history' | 'absorbed'>): number {
  const { id, createdAt } = lesson;
  const absorbed = facts.absorbed(id).filter((other) => isTold(other) || !isTold(lesson));
  let since = absorbed.reduce((last, other) => Math.max(last, wordsSince(other, facts)), createdAt);
  let words: string | undefined;
  for (const { at, text } of facts.history(id)) {
    const now = `${text.description}\n${text.content}`;
    if (words !== undefined && now !== words) since = Math.max(since, at);
    words = now;
  }
  return since;
}

/** When a lesson that was retired came back into use last; undefined when it never did. */
export function lastReturn(id: string, facts: Pick<LessonFacts, 'history'>): number | undefined {
  let [last, wasOut]: [number | undefined, boolean] = [undefined, false];
  for (const event of facts.history(id)) {
    const isIn = event.state === 'live' || event.state === 'trial';
    if (isIn && wasOut) last = event.at;
    wasOut = !isIn;
  }
  return last;
}

/** Whether links, tags and evidence of a lesson may change: a new revision would end what is measured of the old one. */
export const mayRevise = (lesson: Lesson, facts: LessonFacts): boolean =>
  !lesson.pinned &&
  !lesson.frozen &&
  isInUse(lesson) &&
  !facts.isMeasured(lesson) &&
  !facts.isProven(lesson) &&
  (facts.isAsked || !BY_PEOPLE.has(lesson.text.evidence.learner));

/** What a lesson says should be done: of one that quotes, the words that hold now. */
export const ruleOf = ({ text }: Lesson): string => readLesson(text)?.quotes[0] ?? text.content;

/** Whether it says one thing only, so that who contradicts it contradicts all of it. */
export const isOneRule = (lesson: Lesson): boolean => splitFoldedSentences(ruleOf(lesson)).length === 1;
