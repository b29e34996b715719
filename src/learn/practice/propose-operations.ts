import type { Answer, Ask } from '../../core/learn.ts';
import { type Lesson, type LessonText, PROMPT_KINDS } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeTask } from '../../core/practice.ts';
import { fenceData } from '../../evidence/judge/fence-data.ts';
import { topicStems } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { mayScopesOverlap } from '../draft-lesson.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';
import { scopeOfTask } from './attempt-cases.ts';
import { answersOf, findLeak } from './find-leak.ts';
import type { SimilarTexts } from './practice-input.ts';
import { type AliasedLessons, type ReadOperations, readOperations } from './read-operations.ts';
import type { GroupExperience } from './semantic-advantage.ts';

const MOST_SHOWN = 8;
const MAX_TOKENS = 900;
const LONGEST_LESSON = 500;

interface OperationsInput {
  readonly experience: GroupExperience;
  /** The experience as a lesson. */
  readonly text: LessonText;
  readonly task: PracticeTask;
  readonly library: Library;
  readonly similar: SimilarTexts | undefined;
  readonly ask: Ask;
  readonly temperature: number;
  readonly signal: AbortSignal;
}

/**
 * What an experience means for the library: something new, a better text of a lesson, one text for several, or nothing. The model is
 * shown the nearest lessons of the domain under small aliases; without any the experience is new, and no model is asked.
 */
export async function proposeOperations(
  input: OperationsInput,
): Promise<Answer<ReadOperations> | ReadOperations> {
  const { experience, task, ask, temperature, signal } = input;
  const near = await nearestOf(input);
  if (near.length === 0) return { operations: [{ op: 'ADD' }], quarantined: [] };
  const shown: AliasedLessons = {
    ids: new Map(near.map(({ id }, at) => [`E${at + 1}`, id])),
    fixed: new Set(near.filter((lesson) => !isOpenLesson(lesson)).map(({ id }) => id)),
  };
  const { text, rule } = fenceData([
    { label: 'the new experience', text: tell(experience) },
    { label: 'lessons that exist', text: near.map((lesson, at) => listed(lesson, `E${at + 1}`)).join('\n') },
  ]);
  const answers = answersOf(task);
  return ask<ReadOperations>(
    {
      name: 'operations',
      system: `${ROLE}\n\n${rule}`,
      user: `${text}\n\n${WISH}`,
      maxTokens: MAX_TOKENS,
      temperature,
      read: (value) => {
        const read = readOperations(value, shown);
        if ('fault' in read) return read;
        const leak = read.operations.some(
          (one) => 'content' in one && findLeak(one.content ?? '', answers) !== undefined,
        );
        return leak
          ? { fault: '"content" gives away the answer to a task: say how to work, and not what came out' }
          : read;
      },
    },
    signal,
  );
}

const ROLE = `You keep the notes of an assistant. A new experience was found by comparing its attempts at a task. Decide what it means for the notes that exist: the collection stays small, without repetition, and no note contradicts another.`;

const WISH = `Answer with a JSON list and nothing else. Each member is one operation:
- {"operation": "ADD"}: no note says it.
- {"operation": "UPDATE", "id": "E1", "content": "…"}: a note says nearly the same, or needs this addition; "content" is its whole new text.
- {"operation": "MERGE", "ids": ["E1", "E2"], "content": "…"}: several notes and the experience say the same; "content" is the one text for all of them.
- {"operation": "DELETE", "id": "E1", "reason": "…"}: the comparison shows that the note is wrong.
- {"operation": "NONE"}: a note says all of it.
Notes marked (fixed) cannot be changed. "content" is one to three sentences, at most 400 characters, without answers to single tasks.`;

const tell = ({ situation, insight }: GroupExperience): string => `When ${situation}: ${insight}`;

const listed = (lesson: Lesson, alias: string): string => {
  const { description, content } = lesson.text;
  const words = truncateEnd(oneLine(`${description} ${content}`), LONGEST_LESSON);
  return `${alias}${isOpenLesson(lesson) ? '' : ' (fixed)'}: ${words}`;
};

/** Whether practice may change a lesson: an experience that no person wrote, froze or told. */
export const isOpenLesson = (lesson: Lesson): boolean =>
  lesson.kind === 'experience' && whyNotRetired(lesson) === undefined;

async function nearestOf({ text, task, library, similar }: OperationsInput): Promise<readonly Lesson[]> {
  const among = lessonsOfDomain(library, task);
  if (among.length <= MOST_SHOWN) return among;
  const ranks = new Map(
    await similar?.toLessons(text, among).then(
      (near) => near.map(({ id, cosine }) => [id, cosine] as const),
      () => undefined,
    ),
  );
  const words = topicStems(`${text.description} ${text.content}`);
  const rank = ({ id, text: { description, content } }: Lesson): number =>
    ranks.get(id) ?? overlapOf(words, topicStems(`${description} ${content}`));
  return among
    .map((lesson) => ({ lesson, rank: rank(lesson) }))
    .sort((a, b) => b.rank - a.rank || (a.lesson.id < b.lesson.id ? -1 : 1))
    .slice(0, MOST_SHOWN)
    .map(({ lesson }) => lesson);
}

/** Lessons in use, or waiting for a person, that apply where the task comes from. */
const lessonsOfDomain = (library: Library, task: PracticeTask): readonly Lesson[] =>
  library
    .lessons()
    .filter(
      ({ kind, state, text }) =>
        PROMPT_KINDS.has(kind) &&
        state !== 'retired' &&
        state !== 'rejected' &&
        text.note.visibility !== 'private' &&
        mayScopesOverlap(text.scope, scopeOfTask(task)),
    );

/** The share of words that two texts have in common, 0 to 1. */
export function overlapOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}
