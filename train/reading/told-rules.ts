import type { Random } from '../../src/base/random.ts';
import type { Lesson, LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { Recollection } from '../../src/core/recollection.ts';
import { writeLesson } from '../../src/learn/distiller/write-lesson.ts';
import { placeLessons, renderPast } from '../../src/lessons/render-block.ts';
import { pickOne, type ReadingSplit, wordingsFor } from './family.ts';
import { fillGaps } from './gaps.ts';
import type { ReadingRule } from './grade-file.ts';

/** What people say around a rule. Each is drawn as often as the others. */
const FRAMES: Readonly<Record<ReadingSplit, readonly string[]>> = {
  train: ['{x}', '{x}', '{x}', 'You forgot this: {x}', 'For next time: {x}', '{x} Always.', 'Not quite. {x}'],
  report: [
    '{x}',
    '{x}',
    'As agreed: {x}',
    '{x} Please keep to that.',
    'Almost. {x}',
    'This was missing: {x}',
  ],
};
/** What they say when it was different before. */
const CHANGES: Readonly<Record<ReadingSplit, readonly string[]>> = {
  train: ['From now on: {x}', 'We have changed this. {x}', 'New rule: {x}', '{x} Not the way it was before.'],
  report: ['As of today: {x}', 'I changed my mind. {x}', 'This is different now: {x}'],
};

interface Telling {
  readonly split: ReadingSplit;
  readonly random: Random;
}

/** A rule in the words of a person. */
const tellRule = (
  { form, value }: ReadingRule,
  { split, random }: Telling,
  frames: readonly string[],
): string =>
  fillGaps(pickOne(random, frames), {
    x: fillGaps(pickOne(random, wordingsFor(form.wordings, split)), { v: value }),
  });

/** All that may be said of a rule in a split, for tests. */
export const wordsFor = ({ form, value }: ReadingRule, split: ReadingSplit): readonly string[] =>
  wordingsFor(form.wordings, split).flatMap((wording) =>
    [...new Set(FRAMES[split])].map((frame) => fillGaps(frame, { x: fillGaps(wording, { v: value }) })),
  );

/** A rule that was told, and a task that it was told about. */
export interface ToldRule {
  readonly rule: ReadingRule;
  readonly request: string;
}

/** The rules as the product shows them when it has learned them. */
export function showRules(told: readonly ToldRule[], place: LessonPlace, telling: Telling): PlacedLessons {
  const { split, random } = telling;
  const lessons = told.map(({ rule, request }) =>
    lessonOf(tellRule(rule, telling, FRAMES[split]), request, random),
  );
  return placeLessons(place, lessons, []);
}

/** The lesson that is made of a person's words about a task. */
export function lessonOf(said: string, request: string, random: Random): Lesson {
  const count = 1 + random.below(3);
  const text = writeLesson({ speaker: 'user', count, quotes: [said], tasks: [request] });
  return {
    // Lessons stand in the order of their ids: none of them comes first by what it says.
    id: `told-${random.below(1_000_000)}`,
    kind: 'skill',
    state: 'live',
    revision: 1,
    pinned: false,
    frozen: false,
    createdAt: 0,
    changedAt: 0,
    text: {
      ...text,
      scope: {},
      note: {
        keywords: [],
        tags: [],
        importance: 0.5,
        confidence: 0.5,
        source: 'told',
        visibility: 'shared',
        halfLifeDays: 30,
        links: [],
      },
      evidence: { turns: [], quotes: [], learner: 'distiller' },
      taint: [],
    },
  };
}

const DAY_MS = 24 * 3_600_000;
const FIRST_DAY = Date.UTC(2026, 0, 5, 12);

/**
 * A rule that replaced an earlier one. The product shows new words with their day behind the lessons, and of two with days the
 * older first: what stands last holds.
 */
export function showChange(
  old: ToldRule,
  now: ToldRule,
  place: LessonPlace,
  telling: Telling,
): PlacedLessons {
  const { split, random } = telling;
  const day = FIRST_DAY + random.below(400) * DAY_MS;
  const later = day + (2 + random.below(60)) * DAY_MS;
  const quote = (at: number, text: string): Recollection => ({
    session: '',
    turn: '',
    at,
    text,
    times: [],
    relevance: 1,
  });
  const before = tellRule(old.rule, telling, FRAMES[split]);
  const after = tellRule(now.rule, telling, random.below(3) === 0 ? FRAMES[split] : CHANGES[split]);
  if (random.below(2) === 0)
    return { text: renderPast([quote(day, before), quote(later, after)], place), place };
  const lessons = placeLessons(place, [lessonOf(before, old.request, random)], []);
  return { text: `${lessons.text}\n\n${renderPast([quote(later, after)], place)}`, place };
}
