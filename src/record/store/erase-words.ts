import type { LessonText } from '../../core/lesson.ts';
import { findLiterals } from '../../text/literals.ts';
import { splitSentencesBeforeCapital } from '../../text/sentences.ts';

/** Words in a row that two texts do not share by chance. */
const RUN = 5;
const SHORTEST_LITERAL = 6;
/** How lessons mark what somebody said. */
const QUOTATION = /^\s{0,3}(?:>|["“])/;

/**
 * A lesson's text without the sentences that are quoted from an erased session and that no other session contains: they
 * share five words in a row with it, or a literal such as a path or a number. The same object when there are none;
 * undefined when nothing would be left. Keywords that the text no longer contains go as well.
 */
export function withoutWordsOf(
  text: LessonText,
  erased: readonly string[],
  others: readonly string[],
): LessonText | undefined {
  const own = wordRuns(erased);
  if (own.flat.trim() === '') return text;
  const kept = wordRuns(others);
  const isQuoted = (sentence: string): boolean => {
    const words = wordsOf(sentence);
    const whole = ` ${words.join(' ')} `;
    // A quotation of few words is one all the same.
    if (QUOTATION.test(sentence) && own.flat.includes(whole) && !kept.flat.includes(whole)) return true;
    for (let at = 0; at + RUN <= words.length; at++) {
      const run = words.slice(at, at + RUN).join(' ');
      if (own.runs.has(run) && !kept.runs.has(run)) return true;
    }
    return findLiterals(sentence).some((literal) => {
      const name = literal.toLowerCase();
      return name.length >= SHORTEST_LITERAL && own.text.includes(name) && !kept.text.includes(name);
    });
  };
  const content = text.content
    .split('\n')
    .flatMap((line) => withoutSentences(line, isQuoted))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const isDescribed = !isQuoted(text.description);
  if (content === text.content.trim() && isDescribed) return text;
  if (wordsOf(content).length === 0) return undefined;
  const description = isDescribed ? text.description : text.name.replaceAll('-', ' ');
  const keywords = ownKeywords({ name: text.name, description, content }, text.note.keywords);
  return { ...text, description, content, note: { ...text.note, keywords } };
}

/** The keywords that a text contains itself. */
export function ownKeywords(
  { name, description, content }: Pick<LessonText, 'name' | 'description' | 'content'>,
  keywords: readonly string[],
): readonly string[] {
  const own = new Set(wordsOf(`${name} ${description} ${content}`));
  return keywords.filter((keyword) => wordsOf(keyword).every((word) => own.has(word)));
}

/** The line without quoted sentences; nothing when all of it was quoted. */
function withoutSentences(line: string, isQuoted: (sentence: string) => boolean): readonly string[] {
  if (line.trim() === '') return [line];
  const sentences = splitSentencesBeforeCapital(line);
  const kept = sentences.filter((sentence) => !isQuoted(sentence));
  if (kept.length === sentences.length) return [line];
  const left = kept.join(' ');
  return wordsOf(left).length === 0 ? [] : [left];
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

interface WordRuns {
  readonly runs: ReadonlySet<string>;
  readonly text: string;
  /** All words, separated by single blanks. */
  readonly flat: string;
}

function wordRuns(texts: readonly string[]): WordRuns {
  const runs = new Set<string>();
  for (const text of texts) {
    const words = wordsOf(text);
    for (let at = 0; at + RUN <= words.length; at++) runs.add(words.slice(at, at + RUN).join(' '));
  }
  const text = texts.join('\n').toLowerCase();
  return { runs, text, flat: ` ${wordsOf(text).join(' ')} ` };
}
