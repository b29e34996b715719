import { memoByText } from '../base/text-memo.ts';
import type { LabelledSpan, MessageSpan, ReadContext, SpanKind } from '../core/reading.ts';
import { sentencesOf } from '../text/sentences.ts';
import { type KindScores, scoreSentences } from './learned-reader.ts';
import { findOwnWords, foldWords, type OwnSentence, readOwnSentences } from './own-sentences.ts';
import { isRevocation, isRevocationOfLast } from './revocations.ts';

/** A sentence that a person typed, with what it is. */
export interface ReadSentence extends OwnSentence {
  readonly scores: KindScores;
  /** Those that it is, by the thresholds below. */
  readonly kinds: ReadonlySet<SpanKind>;
}

/**
 * From where on a sentence is taken for what the reader says, fitted on messages of other writers (models/reader/CARD.md): what changes later
 * prompts is held to one false lesson in 200 messages, what only says how a turn went to fewer false alarms than words in doubt are worth.
 */
const THRESHOLDS: KindScores = {
  correction: 0.5,
  rule: 0.5,
  preference: 0.5,
  fact: 0.5,
  revocation: 0.5,
  thanks: 0.5,
  again: 0.5,
  outage: 0.5,
  task: 0.5,
};

const ANSWER_CHARACTERS = 600;
/** Between an answer and the message that follows it, in the key of the memory. */
const BETWEEN = '\u0000';

const readOnce = memoByText((key: string): readonly ReadSentence[] => {
  const cut = key.indexOf(BETWEEN);
  const sentences = readOwnSentences(key.slice(cut + 1));
  const scores = scoreSentences(
    sentences.map(({ text }) => text),
    key.slice(0, cut),
  );
  return sentences.flatMap((sentence, nth) => {
    const own = scores[nth];
    return own === undefined ? [] : [{ ...sentence, scores: own, kinds: kindsOf(own, sentence.folded) }];
  });
});

function kindsOf(scores: KindScores, folded: string): ReadonlySet<SpanKind> {
  const kinds = (Object.keys(THRESHOLDS) as SpanKind[]).filter((kind) => scores[kind] >= THRESHOLDS[kind]);
  return new Set(isRevocation(folded) || isRevocationOfLast(folded) ? [...kinds, 'revocation'] : kinds);
}

/**
 * The sentences that a person typed, each once read for all who ask. What a model read takes the place of the learned reader; what is
 * speech, and the fixed words of a revocation, no model decides.
 */
export const readSentences = ({ message, answer, spans }: ReadContext): readonly ReadSentence[] =>
  spans === undefined
    ? readOnce(`${answer.slice(-ANSWER_CHARACTERS).replaceAll(BETWEEN, ' ')}${BETWEEN}${message}`)
    : readOwnSentences(message).map((sentence) => {
        const scores = scoresBySpans(sentence, spans);
        return { ...sentence, scores, kinds: kindsOf(scores, sentence.folded) };
      });

/** Of a kind that a model named the whole score, of others none. */
function scoresBySpans(sentence: OwnSentence, spans: readonly LabelledSpan[]): KindScores {
  const own = spans.filter(({ quote }) => findOwnWords(quote, [sentence]).length > 0);
  const named = new Set(own.map(({ kind }) => kind));
  return Object.fromEntries(
    Object.keys(THRESHOLDS).map((kind) => [kind, Number(named.has(kind as SpanKind))]),
  ) as KindScores;
}

/** What a person's message says, in their own words. */
export const readMessage = (context: ReadContext): readonly MessageSpan[] =>
  readSentences(context).flatMap(({ text, scores, kinds }) =>
    [...kinds].map((kind) => ({ quote: text, kind, strength: scores[kind] })),
  );

/** The sentences of words that were learned from a person, each read for itself: what they answered is not there any more. */
export const readQuote = memoByText((quote: string): readonly ReadSentence[] => {
  const texts = sentencesOf(quote);
  return scoreSentences(texts, '').map((scores, nth) => {
    const text = texts[nth] ?? '';
    const folded = foldWords(text);
    return { text, folded, block: 0, scores, kinds: kindsOf(scores, folded) };
  });
});
