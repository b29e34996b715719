import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicStems } from '../words.ts';
import { isAsking, isProse, isStanding } from './prose.ts';

/** How many stems, and which share of them, two sentences must have in common. */
interface Bar {
  readonly fewest: number;
  readonly share: number;
}
const FOR_STANDING: Bar = { fewest: 2, share: 0.34 };
const FOR_ASKING: Bar = { fewest: 3, share: 0.5 };
const FOR_PROSE: Bar = { fewest: 3, share: 0.5 };
const FOR_ANYTHING: Bar = { fewest: 4, share: 0.6 };
/** Enough common stems for a sentence of any length. */
const ENOUGH = 7;

export type FindMeaning = (folded: string) => string | undefined;

/**
 * Finds a sentence of untrusted text that the lesson repeats in any order and inflection of its words. The threshold is lower
 * for sentences that request something. Words that people, verifiers or digests used as well do not count.
 */
export function createFindMeaning(words: string, trusted: readonly string[]): FindMeaning {
  const known = topicStems(trusted.join('\n'));
  const lines = splitFoldedSentences(words).map(stemsOf);
  const all = new Set(lines.flatMap((stems) => [...stems]));
  const linesOf = new Map<string, number[]>();
  for (const [index, stems] of lines.entries())
    for (const stem of stems) linesOf.set(stem, [...(linesOf.get(stem) ?? []), index]);

  return (folded) =>
    splitFoldedSentences(folded).find((sentence) => {
      const fresh = [...stemsOf(sentence)].filter((stem) => !known.has(stem));
      const shared = fresh.filter((stem) => all.has(stem));
      if (shared.length < FOR_STANDING.fewest) return false;
      const bar = isStanding(sentence) ? FOR_STANDING : isAsking(sentence) ? FOR_ASKING : undefined;
      if (bar !== undefined && (passes(bar, shared.length, fresh.length) || shared.length >= ENOUGH))
        return true;
      const hits = new Map<number, number>();
      for (const stem of shared)
        for (const line of linesOf.get(stem) ?? []) hits.set(line, (hits.get(line) ?? 0) + 1);
      const isWritten = isProse(sentence);
      return [...hits].some(([line, count]) => {
        const size = lines[line]?.size ?? 0;
        return (
          passes(FOR_ANYTHING, count, size) ||
          (isWritten && passes(FOR_PROSE, count, Math.min(size, fresh.length)))
        );
      });
    });
}

/** Without paths and dotted names: literals are compared separately. */
const stemsOf = (sentence: string): ReadonlySet<string> =>
  topicStems(
    sentence
      .split(/\s+/)
      .filter((part) => !/\w[/\\._]\w/.test(part))
      .join(' '),
  );

const passes = ({ fewest, share }: Bar, count: number, of: number): boolean =>
  count >= fewest && count >= of * share;
