import type { Embed } from '../../core/embed.ts';
import type { Taint } from '../../core/lesson.ts';
import { foldText } from './fold-text.ts';
import type { Material } from './material.ts';
import { isAsking, isProse } from './prose.ts';
import { sentencesOf, tokensOf } from './tokens.ts';

/** Cosines of all-MiniLM-L6-v2 from which two sentences speak of the same; what asks for something counts sooner. */
const NEAR_ASKING = 0.4;
const NEAR = 0.45;
const MOST_SENTENCES = 240;
const MOST_SPOKEN = 60;
const FEWEST_WORDS = 4;

export interface NearMeaning {
  readonly taint: Taint;
  /** The stranger's sentence; undefined when it could not be found out. */
  readonly sentence: string | undefined;
}

/**
 * A sentence of a stranger that a line of the lesson means, by a model of meanings: what words alone do not show. A line
 * that is nearer to what people said themselves is theirs. What cannot be compared (too much, or no model) counts as
 * found as soon as there is anything to compare.
 */
export async function findNearMeaning(
  words: string,
  { spoken, strangers }: Material,
  embed: Embed['embed'],
): Promise<NearMeaning | undefined> {
  const said = new Map<string, Taint>();
  for (const { isAgent, taint, views } of strangers)
    if (!isAgent)
      for (const view of views)
        for (const sentence of sentencesOf(view)) if (isProse(sentence)) said.set(sentence, taint);
  const sentences = [...said.keys()].sort((a, b) => Number(isAsking(b)) - Number(isAsking(a)));
  const lines = sentencesOf(foldText(words)).filter(
    (line) => tokensOf(withoutCode(line)).length >= FEWEST_WORDS,
  );
  const [first] = sentences;
  if (first === undefined || lines.length === 0) return undefined;
  const unknown = { taint: said.get(first) ?? 'tool', sentence: undefined };
  if (sentences.length > MOST_SENTENCES) return unknown;
  const own = [...new Set(spoken.flatMap(sentencesOf))].slice(0, MOST_SPOKEN);
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
      if (isNear) return { taint: said.get(sentence) ?? 'tool', sentence };
    }
    return undefined;
  } catch {
    return unknown;
  }
}

const withoutCode = (line: string): string => line.replace(/`[^`]*`/g, ' ');

/** Of unit vectors. */
function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
