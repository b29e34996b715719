import type { FailureCase, Passage, Proposal } from '../../core/learn.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { stemInflection } from '../../text/stem.ts';
import { topicStems } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { hasSubject } from '../distiller/matter.ts';
import { statesRule } from '../distiller/write-lesson.ts';
import { wordsAbout } from '../draft-lesson.ts';

/*
 * What a lesson that a model wrote must say. Its form is repaired elsewhere; here it is refused when it says nothing, when it rests on
 * nothing that was recorded, or when it leaves out what the person said about the failures that it would use up.
 */

/** A lesson as a model wrote it, before the words of people are added to it. */
interface WrittenWords {
  readonly description: string;
  readonly content: string;
}

/** Words that fit any task: an instruction of these alone tells nobody what to do. */
const GENERIC: ReadonlySet<string> = new Set(
  `answer approach attention attentive avoid aware best better bug care careful carefully check checking complete completely
  consider context correct correctly correctness detail details double diligent effort end ensure error errors expectation
  expected fail failed failure finish first follow following good guideline help helpful improve instruction instructions issue
  issues job lesson look mind mistake mistakes output pay precise problem problems proceed process proper properly quality read
  remember reply request requested requirement requirements response result results review rule says skill step steps stop
  success task tasks test tests think thorough thoroughly try understand user verify wanted work working worked wrong`
    .split(/\s+/)
    .map(stemInflection),
);

const tellingStems = (text: string): readonly string[] =>
  [...topicStems(text)].filter((stem) => !GENERIC.has(stem));

/** What people said about a failure that a lesson for it has to contain. */
const remarksOf = (failure: FailureCase): readonly Passage[] =>
  wordsAbout(failure).filter(({ text }) => hasSubject(text));

/** The share of a sentence's words that a text has in common with it when it says the same. */
const SAME_SENTENCE = 0.5;

/** Whether a text states a remark: its words, or of each of its rules at least half of what they are about. */
export function coversRemark(text: string, remark: string): boolean {
  if (oneLine(text).toLowerCase().includes(oneLine(remark).toLowerCase())) return true;
  const stems = topicStems(text);
  const isStated = (sentence: string): boolean => {
    const own = [...topicStems(sentence)];
    return own.filter((stem) => stems.has(stem)).length >= Math.max(1, own.length * SAME_SENTENCE);
  };
  const sentences = sentencesOf(remark).filter(hasSubject);
  const rules = sentences.filter(statesRule);
  return rules.length > 0 ? rules.every(isStated) : sentences.some(isStated);
}

export const wordsOf = ({ description, content }: WrittenWords): string => `${description}\n${content}`;

/** The failures that a lesson rests on: it states what people said about them, or quotes them where nobody said anything. */
export function failuresCovered(
  written: WrittenWords,
  quotes: Proposal['quotes'],
  failures: readonly FailureCase[],
): readonly FailureCase[] {
  const quoted = new Set(quotes.map(({ turn }) => turn));
  return failures.filter((failure) => {
    const remarks = remarksOf(failure);
    return remarks.length === 0
      ? quoted.has(failure.turn)
      : remarks.some(({ text }) => coversRemark(wordsOf(written), text));
  });
}

/** Whether everything that people said about a failure is in one of the lessons: only then is it used up. */
export const isUsedUp = (failure: FailureCase, written: readonly WrittenWords[]): boolean =>
  remarksOf(failure).every(({ text }) => written.some((one) => coversRemark(wordsOf(one), text)));

/** Why a lesson tells nobody what to do; undefined where it names something. */
export const whySaysNothing = (written: WrittenWords): string | undefined =>
  tellingStems(wordsOf(written)).length === 0
    ? 'it says nothing that could be followed: name what to do'
    : undefined;

/** Why a lesson is refused for what it says; undefined when it may be proposed. */
export function whyNotWritten(
  written: WrittenWords,
  quotes: Proposal['quotes'],
  failures: readonly FailureCase[],
): string | undefined {
  const empty = whySaysNothing(written);
  if (empty !== undefined) return empty;
  const telling = tellingStems(wordsOf(written));
  const covered = failuresCovered(written, quotes, failures);
  const asked = topicStems(failures.map(({ task }) => task).join('\n'));
  if (telling.every((stem) => asked.has(stem)) && covered.every((one) => remarksOf(one).length === 0))
    return 'it only repeats the task';
  if (covered.length > 0) return undefined;
  const [remark] = failures.flatMap(remarksOf);
  return remark === undefined
    ? 'it quotes nothing that was recorded: "quotes" must hold a passage exactly as it stands, with its turn'
    : `it leaves out what was said: "${truncateEnd(oneLine(remark.text), 160)}"`;
}
