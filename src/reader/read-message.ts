import { memoByText } from '../base/text-memo.ts';
import type { LabelledSpan, ReadContext, SpanKind } from '../core/reading.ts';
import { isInstructionVerb } from '../text/verbs.ts';
import { HARMLESS_NO } from './cues/reaction-phrases.ts';
import { isRevocation, isRevocationOfLast } from './cues/revocations.ts';
import { isSaidForLater } from './cues/said-for-later.ts';
import { type CueKind, readCues } from './cues/sentence-cues.ts';
import { type KindScores, SPAN_KINDS, scoreSentences } from './learned-reader.ts';
import { findOwnWords, type OwnSentence, readOwnSentences } from './own-sentences.ts';

/** A sentence that a person typed, with what it is. */
export interface ReadSentence extends OwnSentence {
  readonly scores: KindScores;
  readonly kinds: ReadonlySet<SpanKind>;
  /** The one kind that says most about the reply before it. */
  readonly sounds: CueKind;
}

export type { CueKind };

/*
 * Fitted on messages of one half of the writers, checked on the other (models/reader/CARD.md). A correction alone changes no prompt, so it is
 * heard at some false alarms in a hundred messages; what is remembered at once is held to fewer.
 */
/** The learned reader hears a correction that no phrase says. */
const CORRECTION = 0.99;
/** Real chats are full of orders that are worded as rules: the learned reader tells the two apart where a phrase cannot. */
const RULE = 0.84;
const RULE_IN_PHRASES = 0.01;
const THANKS_IN_PHRASES = 0.05;
const AGAIN = 0.5;
const OUTAGE = 0.7;
const TASK = 0.5;
/** What asks for something is neither a correction nor a rule, unless a phrase says so. */
const WISH = 0.4;
/** A taste or a fact, in a sentence that asks for nothing. */
const PREFERENCE = 0.25;
const FACT = 0.6;
const ASKS_FOR_NOTHING = 0.5;

/** The least score under which a phrase is not believed. */
const VETO: Partial<Readonly<Record<CueKind, readonly [SpanKind, number]>>> = {
  rule: ['rule', RULE_IN_PHRASES],
  thanks: ['thanks', THANKS_IN_PHRASES],
};

/** What phrases say, where the learned reader does not contradict it. */
function heardCue(cue: CueKind, scores: KindScores, folded: string): CueKind {
  const veto = VETO[cue];
  if (veto === undefined || scores[veto[0]] >= veto[1]) return cue;
  const isCertain = isSaidForLater(folded) || isRevocation(folded) || isRevocationOfLast(folded);
  return cue === 'rule' && isCertain ? cue : 'other';
}

/** `isAnswer`: the reply before it ended with a question. */
function kindsOf(
  scores: KindScores,
  cue: CueKind,
  { folded, isAnswer }: { readonly folded: string; readonly isAnswer: boolean },
): ReadonlySet<SpanKind> {
  const kinds = new Set<SpanKind>();
  const add = (kind: SpanKind, isIt: boolean): void => {
    if (isIt) kinds.add(kind);
  };
  const isRemark = cue !== 'question' && cue !== 'greeting' && scores.task < WISH;
  const isHarmless = HARMLESS_NO.test(folded);
  add('correction', cue === 'complaint' || (isRemark && !isHarmless && scores.correction >= CORRECTION));
  const isShort = LATIN.test(folded) && folded.split(' ').length <= FEW_WORDS;
  add('rule', cue === 'rule' || (isRemark && !isShort && !isAnswer && scores.rule >= RULE));
  const isStatement = cue !== 'question' && scores.task < ASKS_FOR_NOTHING;
  add('preference', isStatement && scores.preference >= PREFERENCE);
  add('fact', isStatement && scores.fact >= FACT);
  add('revocation', isRevocation(folded) || isRevocationOfLast(folded));
  add('thanks', cue === 'thanks');
  add('again', scores.again >= AGAIN);
  add('outage', cue === 'outage' || scores.outage >= OUTAGE);
  add('task', cue === 'task' || scores.task >= TASK);
  return kinds;
}

function soundOf(kinds: ReadonlySet<SpanKind>, cue: CueKind): CueKind {
  if (kinds.has('outage')) return 'outage';
  if (kinds.has('rule') || kinds.has('revocation')) return 'rule';
  if (kinds.has('correction')) return 'complaint';
  if (kinds.has('thanks')) return 'thanks';
  return cue;
}

/** Three words in Latin letters say what is to be done, and not that it is for later ("Actually use postgres"). */
const FEW_WORDS = 3;
const LATIN = /^[\x20-\u024f]*$/;
const ANSWER_CHARACTERS = 600;
const ENDS_WITH_QUESTION = /[?？][\s*_`)]*$/;
const CODE = /`[^`\n]+`|^\s{0,3}(?:```|~~~)/m;

/** The answer is of work on code: what is said after it is most often about that work, in the words of what holds for all. */
export const namesCode = (answer: string): boolean => CODE.test(answer);

/** Between the parts of a key of the memory. */
const BETWEEN = '\u0000';

const scoreOnce = memoByText((key: string): readonly KindScores[] => {
  const cut = key.indexOf(BETWEEN);
  const sentences = readOwnSentences(key.slice(cut + 1));
  return scoreSentences(
    sentences.map(({ text }) => text),
    key.slice(0, cut),
  );
});

/**
 * The sentences that a person typed. The learned reader reads each message once for all who ask; what a model read takes its place. What is
 * speech, and the fixed words of a revocation, no model decides.
 */
export function readSentences(context: ReadContext): readonly ReadSentence[] {
  const { message, answer, spans } = context;
  const sentences = readOwnSentences(message);
  // Nothing that a person typed: the reader would read the answer before it alone.
  if (sentences.length === 0) return [];
  if (spans !== undefined) return sentences.map((sentence) => readBySpans(sentence, spans));
  const scores = scoreOnce(
    `${answer.slice(-ANSWER_CHARACTERS).replaceAll(BETWEEN, ' ')}${BETWEEN}${message}`,
  );
  const cues = readCues(sentences, context);
  const isAnswer = ENDS_WITH_QUESTION.test(answer);
  const read = sentences.flatMap((sentence, nth) => {
    const [own, phrase] = [scores[nth], cues[nth]];
    if (own === undefined || phrase === undefined) return [];
    const cue = heardCue(phrase, own, sentence.folded);
    const kinds = kindsOf(own, cue, { folded: sentence.folded, isAnswer });
    return [{ ...sentence, scores: own, kinds, sounds: soundOf(kinds, cue) }];
  });
  return isAnswer ? read : hearManner(read);
}

/** Behind an answer a few words sound like a remark on it; alone they sound like what they ask for: this much of a rule, or of both. */
const MANNER = 0.45;
const MOST_MANNER_WORDS = 5;
const MOST_MANNER_CHARACTERS = 40;
/** It points at something: a wish about the work at hand. */
const POINTS_AT_CASE =
  /\b(?:the|this|that|these|those|it|its|them|they|he|she|my|your|our|his|her|an?|here|there|now|today|again|one|i|we)\b|[\d`_/]|[?？]$/;

/** A message that says in one word how to be is about nothing else ("be right back" has two). */
const HOW_TO_BE = /^(?:(?:please|pls|just) )*be (?:(?:more|less|very) )?[\p{L}-]+$/u;

/**
 * "Be concise", "no emojis": a message of nothing else is how its author wants to be answered. Beside a request it is about that. What
 * begins with a verb of work is work; to be something is none.
 */
function hearManner(sentences: readonly ReadSentence[]): readonly ReadSentence[] {
  const isPolite = ({ sounds }: ReadSentence): boolean => sounds === 'thanks' || sounds === 'greeting';
  const wishes = sentences.filter((sentence) => !isPolite(sentence));
  const isWork = (folded: string, sounds: CueKind): boolean =>
    (sounds !== 'other' && sounds !== 'complaint') || folded.split(' ').slice(0, 2).some(isInstructionVerb);
  const isTerse = ({ text, folded, sounds, kinds }: ReadSentence): boolean =>
    folded.split(' ').length <= MOST_MANNER_WORDS &&
    text.length <= MOST_MANNER_CHARACTERS &&
    !kinds.has('revocation') &&
    (/^(?:(?:please|pls|just) )*be\b/.test(folded) || !isWork(folded, sounds)) &&
    !HARMLESS_NO.test(folded) &&
    !POINTS_AT_CASE.test(folded);
  if (wishes.length === 0 || !wishes.every(isTerse)) return sentences;
  return sentences.map((sentence) => {
    const [alone] = isPolite(sentence) ? [] : scoreOnce(`${BETWEEN}${sentence.text}`);
    if (alone === undefined) return sentence;
    if (!HOW_TO_BE.test(sentence.folded) && alone.rule + alone.preference < MANNER) return sentence;
    const isRule = alone.rule >= MANNER;
    const kinds = new Set<SpanKind>([...sentence.kinds, 'preference', 'rule']);
    return { ...sentence, kinds, sounds: isRule ? 'rule' : sentence.sounds };
  });
}

/** Of a kind that a model named the whole score, of others none. */
function readBySpans(sentence: OwnSentence, spans: readonly LabelledSpan[]): ReadSentence {
  const own = spans.filter(({ quote }) => findOwnWords(quote, [sentence]).length > 0);
  const { folded } = sentence;
  const fixed: readonly SpanKind[] = isRevocation(folded) || isRevocationOfLast(folded) ? ['revocation'] : [];
  const kinds = new Set([...own.map(({ kind }) => kind), ...fixed]);
  const scores = Object.fromEntries(SPAN_KINDS.map((kind) => [kind, Number(kinds.has(kind))])) as KindScores;
  // A model tells a lasting wish from a passing one.
  const sounds = kinds.has('preference') ? 'rule' : soundOf(kinds, kinds.has('task') ? 'task' : 'other');
  return { ...sentence, scores, kinds, sounds };
}
