import { hash } from 'node:crypto';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import { comparedText } from '../similar/compare.ts';
import type { IndexedText } from './bm25-index.ts';
import { vectorKey } from './embedding-queue.ts';
import { IDLE_REQUESTS } from './idle-requests.ts';

/** What is read of a lesson here. */
export interface SearchedLesson {
  readonly text: Pick<LessonText, 'name' | 'description' | 'content'> & {
    readonly note: Pick<LessonText['note'], 'keywords' | 'triggers' | 'context'>;
  };
}

/** The texts of a lesson that are compared with a task. */
interface LessonTexts {
  /**
   * Short texts that each say when it is needed: the description, and its triggers. A lesson without triggers (imported, or of
   * an old record) has the situation it was learned in and its own sentences in their place.
   */
  readonly cues: readonly string[];
  readonly whole: string;
}

/** One vector each: a library with longer lists would cost memory and find no more. */
const MOST_TRIGGERS = 8;
const MOST_SENTENCES = 8;
/** Shorter ones are headings and single words. */
const LEAST_WORDS = 3;
const LONGEST_CUE = 300;
/** Characters of a lesson's text that are cut into sentences. */
const MOST_CHARACTERS = 4000;

export function lessonTexts(lesson: SearchedLesson): LessonTexts {
  const { description, note } = lesson.text;
  const triggers = (note.triggers ?? []).slice(0, MOST_TRIGGERS);
  const others = triggers.length > 0 ? triggers : ownSentences(lesson);
  const cues = [description || headOf(lesson), ...others].map((cue) => cue.slice(0, LONGEST_CUE));
  return { cues: [...new Set(cues)], whole: wholeOf(lesson) };
}

/** The situation of a lesson and the sentences of its content, without numbers, bullets and headings. */
function ownSentences({ text }: SearchedLesson): readonly string[] {
  const { content, note } = text;
  const lines = content.slice(0, MOST_CHARACTERS).split('\n');
  const sentences = lines
    .flatMap((line) => line.split(/(?<=[.;:!?。！？])\s+/))
    .map((sentence) => sentence.replace(/^\s{0,8}(?:[-*•#]{1,6}|\d{1,3}[.)])\s{0,8}/, '').trim())
    .filter((sentence) => hasWords(sentence));
  const situation = note.context === undefined ? [] : [note.context];
  const keywords = note.keywords.length === 0 ? [] : [note.keywords.join(', ')];
  return [...situation, ...keywords, ...sentences].slice(0, MOST_SENTENCES);
}

/** Whether a sentence has enough words; scripts without spaces have more letters instead. */
const hasWords = (sentence: string): boolean =>
  sentence.split(/\s+/, LEAST_WORDS).length >= LEAST_WORDS ||
  (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(sentence) &&
    sentence.length >= 6);

/** What keyword search reads. Words in the head weigh more. */
export const searchedText = (lesson: SearchedLesson): IndexedText => ({
  head: headOf(lesson),
  body: bodyOf(lesson),
});

/** Name as words, description and keywords. */
const headOf = (lesson: SearchedLesson): string =>
  [nameWords(lesson), lesson.text.description, ...lesson.text.note.keywords].join('. ');

const nameWords = ({ text }: SearchedLesson): string => text.name.replaceAll('-', ' ');
const bodyOf = ({ text }: SearchedLesson): string =>
  [text.content, text.note.context ?? '', ...(text.note.triggers ?? [])].join('\n');
const wholeOf = (lesson: SearchedLesson): string =>
  `${headOf(lesson)} ${lesson.text.content}\n${lesson.text.note.context ?? ''}`;

/** Of everything that is compared of a lesson: equal where its texts are. */
export function comparedKey({ text: { name, description, content, note } }: SearchedLesson): string {
  const { keywords, triggers = [], context = '' } = note;
  return hash('sha1', JSON.stringify([name, description, content, keywords, triggers, context]), 'base64');
}

/** The cache keys of everything that is embedded of these lessons, and for all of them. */
export const vectorKeysOf = (lessons: readonly Lesson[]): ReadonlySet<string> =>
  new Set(
    [
      ...lessons.map(lessonTexts).flatMap(({ cues, whole }) => [...cues, whole]),
      ...lessons.map(comparedText),
      ...IDLE_REQUESTS,
    ].map(vectorKey),
  );
