import type { Random } from '../../../src/base/random.ts';
import type { NanoReply } from '../../../train/nano/policy/nano-template.ts';
import { pick, shuffled } from '../../suites/workdays/draw.ts';
import { DISTRACTORS } from './distractors.ts';
import type { DrawnLesson } from './draw-lessons.ts';
import type { ToldRule } from './tell/tell.ts';
import { asLine, asProse, asQuote, drawRemark } from './wordings.ts';

const RENDITIONS = 6;

/** A lesson or a saying of a prompt, in several wordings of which one is shown at a time. */
export interface SampleLine {
  readonly mark: 'skill' | 'said';
  readonly texts: readonly string[];
}

/** The same before its words are made hard to read, where that leaves enough to read. */
export interface DraftLine {
  readonly mark: 'skill' | 'said';
  readonly texts: readonly ToldRule[];
}

/** A demonstration: replies to a task with these lines in the prompt. */
export interface Sample {
  readonly kind: 'task' | 'choice' | 'rule-choice' | 'foreign';
  readonly lines: readonly SampleLine[];
  readonly task: string;
  /** Obeys all that applies. */
  readonly clean: NanoReply;
  /** Of an imperfect reader. */
  readonly noisy: readonly NanoReply[];
}

/** Lessons, what the user said, or both; with others that do not matter. */
export function linesFor(lessons: readonly DrawnLesson[], random: Random): readonly DraftLine[] {
  const luck = random.next();
  const channel = luck < 0.6 ? 'skill' : luck < 0.85 ? 'said' : 'both';
  const lines: DraftLine[] = [];
  for (const lesson of lessons) {
    const mark = channel === 'both' ? pick(random, ['skill', 'said'] as const) : channel;
    lines.push({ mark, texts: Array.from({ length: RENDITIONS }, () => rendition(lesson, mark, random)) });
    // The same may have been said twice, or learned and said again.
    if (channel !== 'skill' && random.next() < 0.12)
      lines.push({ mark: 'said', texts: [rendition(lesson, 'said', random)] });
  }
  const mark = channel === 'both' ? pick(random, ['skill', 'said'] as const) : channel;
  return [...shuffled(random, [...lines, ...distractorsFor(mark, random)])];
}

/** In characters, so that what is said fits into the tokens that a prompt has for it. */
const LONGEST = { said: 140, quote: 155, prose: 105, line: 105 };

function rendition(lesson: DrawnLesson, mark: 'skill' | 'said', random: Random): ToldRule {
  const luck = random.next();
  const way = mark === 'said' ? 'said' : luck < 0.5 ? 'quote' : luck < 0.78 ? 'prose' : 'line';
  const { text, isShown } = lesson.tell(random, LONGEST[way]);
  const again = (): string => lesson.tell(random, LONGEST.line).text;
  switch (way) {
    case 'said':
      return { text, isShown };
    case 'quote':
      return { text: asQuote(text, again, random), isShown };
    case 'prose':
      return { text: asProse(text, again, random), isShown };
    case 'line':
      return { text: asLine(text, random), isShown };
  }
}

export function distractorsFor(mark: 'skill' | 'said', random: Random): readonly DraftLine[] {
  const luck = random.next();
  const count = luck < 0.45 ? 0 : luck < 0.7 ? 1 : luck < 0.88 ? 2 : 3;
  return Array.from({ length: count }, () => ({
    mark,
    texts: Array.from({ length: RENDITIONS }, () => ({
      text: mark === 'said' && random.next() < 0.8 ? drawRemark(random) : pick(random, DISTRACTORS),
      isShown: false,
    })),
  }));
}
