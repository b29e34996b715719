import type { Embed } from '../../src/core/embed.ts';
import { createNgramEmbed } from '../../src/library/embed/ngram-embed.ts';
import { cleanQuery } from '../../src/library/recall/clean-query.ts';
import { createRecall } from '../../src/library/recall/create-recall.ts';
import { createLexicalIndex } from '../../src/library/recall/lexical-index.ts';
import { lessonOf } from './instar.ts';
import type { PairLesson } from './pairs.ts';
import type { Method } from './score-pairs.ts';

/** The best threshold of each simple method on the dev part of our pairs, by F1 plus half the silence. */
export const BM25_THRESHOLD = 1.25;
export const COSINE_THRESHOLD = 0.425;

const NO_BUDGET = 1_000_000;
const PATIENT_MS = 60_000;

/** The gateway's own recall. */
export async function ours(lessons: readonly PairLesson[], embed: Embed, k: number): Promise<Method> {
  const index = createRecall({
    embed,
    fallback: createNgramEmbed(),
    limits: { topK: k, tokenBudget: NO_BUDGET },
    patienceMs: PATIENT_MS,
  });
  await index.update(lessons.map((lesson) => lessonOf(lesson)));
  await index.settled();
  return async (text) => {
    const { considered } = await index.recall({ text, session: 'bench', agent: 'bench' }, 0);
    return considered.filter(({ verdict }) => verdict === 'shown').map(({ id }) => id);
  };
}

/** BM25 over name, description and content. */
export function bm25(lessons: readonly PairLesson[], threshold: number): Method {
  const index = createLexicalIndex();
  for (const [slot, lesson] of lessons.entries())
    index.add(slot, { head: headOf(lesson), body: lesson.content });
  return async (text) => {
    const scores = new Float32Array(lessons.length);
    for (const term of index.terms(cleanQuery(text))) index.score(term, scores);
    return ranked(lessons, scores, threshold);
  };
}

/** Cosine similarity of the embeddings of name and description. */
export async function cosine(
  lessons: readonly PairLesson[],
  embed: Embed,
  threshold: number,
): Promise<Method> {
  const vectors = await embed.embed(lessons.map(headOf));
  return async (text) => {
    const [query] = await embed.embed([cleanQuery(text)]);
    const dot = (vector: Float32Array): number =>
      vector.reduce((sum, value, at) => sum + value * (query?.[at] ?? 0), 0);
    return ranked(lessons, Float32Array.from(vectors, dot), threshold);
  };
}

const headOf = ({ name, description }: PairLesson): string => `${name.replaceAll('-', ' ')}. ${description}`;

const ranked = (lessons: readonly PairLesson[], scores: Float32Array, threshold: number): readonly string[] =>
  [...scores.keys()]
    .filter((at) => (scores[at] ?? 0) >= threshold)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
    .map((at) => lessons[at]?.id ?? '');
