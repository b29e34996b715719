import { type SPAN_KINDS, scoreSentences } from '../../../src/reader/learned-reader.ts';
import { readOwnSentences } from '../../../src/reader/own-sentences.ts';
import type { LabelledMessage, Share } from './score-words.ts';

/** What the learned reader hears by itself, without phrases, at a given rate of false alarms. */
export interface AloneScores {
  readonly kind: 'correction' | 'rule';
  /** Which of the messages: those in English or the others, with their answers or without. */
  readonly of: string;
  readonly heard: Share;
  /** Messages that must not be heard, and how many of them were. */
  readonly false: Share;
  readonly threshold: number;
}

/** At most one false lesson in this many messages. */
const ONE_IN = 200;

interface Scored {
  readonly isWanted: boolean;
  readonly score: number;
}

/**
 * The most that can be heard at one false alarm in two hundred messages, whatever the thresholds of the product: for each kind a
 * threshold of its own, chosen on these messages, so that it is an upper limit of what the scores are worth.
 */
export function scoreAlone(items: readonly LabelledMessage[]): readonly AloneScores[] {
  const groups: readonly (readonly [string, readonly LabelledMessage[]])[] = [
    ['all', items],
    ['English', items.filter(({ lang }) => lang === 'en')],
    ['other languages', items.filter(({ lang }) => lang !== 'en')],
  ];
  return [true, false].flatMap((withAnswer) =>
    groups.flatMap(([name, group]) => {
      const read = group.map((item) => ({ item, best: bestScores(item, withAnswer) }));
      const of = `${name}, ${withAnswer ? 'behind the answer' : 'without the answer'}`;
      return (['correction', 'rule'] as const).map((kind): AloneScores => {
        const isWanted = ({ label, standing }: LabelledMessage): boolean =>
          label === 'correction' && (kind === 'correction' || standing === true);
        // Where opinions differ whether it holds for later, a message counts neither way.
        const counted = read.filter(
          ({ item }) => kind === 'correction' || item.label !== 'correction' || item.standing !== undefined,
        );
        return {
          kind,
          of,
          ...atOneIn(counted.map(({ item, best }) => ({ isWanted: isWanted(item), score: best[kind] }))),
        };
      });
    }),
  );
}

function bestScores(
  { message, answer }: LabelledMessage,
  withAnswer: boolean,
): Readonly<Record<'correction' | 'rule', number>> {
  const sentences = readOwnSentences(message).map(({ text }) => text);
  const scores = sentences.length === 0 ? [] : scoreSentences(sentences, withAnswer ? answer : '');
  const most = (kind: (typeof SPAN_KINDS)[number]): number => Math.max(0, ...scores.map((one) => one[kind]));
  return { correction: most('correction'), rule: most('rule') };
}

function atOneIn(scored: readonly Scored[]): Pick<AloneScores, 'heard' | 'false' | 'threshold'> {
  const unwanted = scored.filter(({ isWanted }) => !isWanted).map(({ score }) => score);
  const wanted = scored.filter(({ isWanted }) => isWanted).map(({ score }) => score);
  const allowed = Math.floor(unwanted.length / ONE_IN);
  // Above the highest score that may not be heard.
  const threshold = unwanted.toSorted((a, b) => b - a)[allowed] ?? 0;
  const over = (scores: readonly number[]): Share => ({
    hits: scores.filter((score) => score > threshold).length,
    of: scores.length,
  });
  return { heard: over(wanted), false: over(unwanted), threshold };
}
