import type { Embed } from '../../core/embed.ts';
import type { Taint } from '../../core/lesson.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { foldText } from './fold-text.ts';
import type { Material } from './material.ts';
import { isAsking, isProse } from './prose.ts';
import { tokensOf } from './tokens.ts';

/** Cosines of all-MiniLM-L6-v2 from which two sentences count as similar; lower for sentences that request something. */
const NEAR_ASKING = 0.4;
const NEAR = 0.45;
const MOST_SENTENCES = 240;
const MOST_FIRST_PARTY = 60;
const FEWEST_WORDS_IN_LINE = 4;

export interface NearMeaning {
  readonly taint: Taint;
  /** The untrusted sentence; undefined when the comparison was not possible. */
  readonly sentence: string | undefined;
}

/**
 * An untrusted sentence that a line of the lesson resembles in meaning, by embeddings: that finds paraphrases that share no
 * words. A line that is closer to first-party text is not reported. Where the comparison is not possible (too much text, or
 * the model fails), any untrusted sentence counts as found.
 */
export async function findNearMeaning(
  words: string,
  { firstParty, untrusted }: Material,
  embed: Embed['embed'],
): Promise<NearMeaning | undefined> {
  const taints = new Map<string, Taint>();
  for (const { isAgent, taint, views } of untrusted)
    if (!isAgent)
      for (const view of views)
        for (const sentence of splitFoldedSentences(view)) if (isProse(sentence)) taints.set(sentence, taint);
  const sentences = [...taints.keys()].sort((a, b) => Number(isAsking(b)) - Number(isAsking(a)));
  const lines = splitFoldedSentences(foldText(words)).filter(
    (line) => tokensOf(withoutCode(line)).length >= FEWEST_WORDS_IN_LINE,
  );
  const [first] = sentences;
  if (first === undefined || lines.length === 0) return undefined;
  const unknown = { taint: taints.get(first) ?? 'tool', sentence: undefined };
  if (sentences.length > MOST_SENTENCES) return unknown;
  const own = [...new Set(firstParty.flatMap(splitFoldedSentences))].slice(0, MOST_FIRST_PARTY);
  try {
    const vectors = await embed([...lines, ...own, ...sentences]);
    const lineVectors = vectors.slice(0, lines.length);
    const ownVectors = vectors.slice(lines.length, lines.length + own.length);
    const nearestOwn = lineVectors.map((line) =>
      Math.max(0, ...ownVectors.map((vector) => cosine(line, vector))),
    );
    for (const [index, sentence] of sentences.entries()) {
      const vector = vectors[lines.length + own.length + index];
      if (vector === undefined) return unknown;
      const bar = isAsking(sentence) ? NEAR_ASKING : NEAR;
      const isNear = lineVectors.some(
        (line, at) => cosine(line, vector) >= Math.max(bar, nearestOwn[at] ?? 0),
      );
      if (isNear) return { taint: taints.get(sentence) ?? 'tool', sentence };
    }
    return undefined;
  } catch {
    return unknown;
  }
}

const withoutCode = (line: string): string => line.replace(/`[^`]*`/g, ' ');

/** For unit vectors. */
function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
