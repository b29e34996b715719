import type { Embed } from '../../src/core/embed.ts';
import { BM25_THRESHOLD, bm25, COSINE_THRESHOLD, cosine, ours } from './methods.ts';
import type { Pairs } from './pairs.ts';
import { type Quality, scorePairs } from './score-pairs.ts';
import { table } from './table.ts';

/** The most lessons a method may show. */
const K = 5;

/** Scores our recall and the two simple methods on tasks whose relevant lessons are known. */
export async function measureQuality({ lessons, pairs }: Pairs, embed: Embed): Promise<readonly Quality[]> {
  return [
    await scorePairs('Instar', await ours(lessons, embed, K), pairs, K),
    await scorePairs('BM25 alone', bm25(lessons, BM25_THRESHOLD), pairs, K),
    await scorePairs('embeddings alone', await cosine(lessons, embed, COSINE_THRESHOLD), pairs, K),
  ];
}

export function reportQuality(title: string, { lessons, pairs }: Pairs, found: readonly Quality[]): string {
  const without = pairs.filter(({ right }) => right.length === 0).length;
  return [
    `### ${title}: ${lessons.length} lessons, ${pairs.length - without} tasks with relevant ones, ${without} without`,
    table(
      [
        '',
        'precision',
        'recall',
        'F1',
        `nDCG@${K}`,
        'nothing shown where nothing is relevant',
        'shown per task',
      ],
      found.map(({ method, precision, recall, f1, ndcg, silence, shown }) => [
        method,
        ...[precision, recall, f1, ndcg, silence].map((value) => value.toFixed(3)),
        shown.toFixed(2),
      ]),
    ),
  ].join('\n\n');
}
