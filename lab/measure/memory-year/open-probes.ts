import type { Lesson } from '../../../src/core/lesson.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { firstLookFor } from '../../../src/embed/static-embed.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import type { EngineCounts } from '../measured.ts';

interface ProbeOptions {
  readonly embed: EmbeddingModel;
  readonly topK?: number;
  /** Told which engine answered each question. */
  readonly engines?: EngineCounts;
}

export const USUAL_TOP_K = 6;

/** The product's recall over these lessons. */
export async function openProbes(
  lessons: readonly Lesson[],
  { embed, topK = USUAL_TOP_K, engines }: ProbeOptions,
  now: number,
): Promise<(question: string) => Promise<readonly string[]>> {
  const index = createRecall({
    embed,
    first: firstLookFor(embed),
    limits: { topK, tokenBudget: 1500, ...(topK < USUAL_TOP_K ? {} : { index: { lines: 24, tokens: 600 } }) },
  });
  await index.update(lessons);
  await index.settled();
  return async (text) => {
    const found = await index.recall({ text, session: '', agent: 'year', isUnhurried: true }, now);
    engines?.add(found.engine);
    return [...found.lessons, ...found.index].map(({ id }) => id);
  };
}
