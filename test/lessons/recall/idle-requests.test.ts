import { expect, it } from 'vitest';
import { createMiniLmEmbed, MINILM } from '../../../src/embed/minilm-embed.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { IDLE_REQUESTS, readIdleVectors } from '../../../src/lessons/recall/idle-requests.ts';
import { createLessonIndex } from '../../../src/lessons/recall/lesson-index.ts';
import { audienceOf } from '../../../src/lessons/scope.ts';
import { lesson } from './sample-lessons.ts';

it('the package ships the vectors of the sentence model for exactly these sentences; lab/static/idle-vectors.ts makes them', async () => {
  const model = createMiniLmEmbed();
  const made = await model.embed(IDLE_REQUESTS);
  await model.close();
  const shipped = (await readIdleVectors(MINILM)) ?? [];
  expect(shipped).toHaveLength(IDLE_REQUESTS.length);
  for (const [at, vector] of shipped.entries()) {
    const cosine = vector.reduce((sum, value, i) => sum + value * (made[at]?.[i] ?? 0), 0);
    expect(cosine, IDLE_REQUESTS[at]).toBeGreaterThan(0.9999);
  }
});

it('a home with a lesson has them without the sentence model; with another model they are computed', async () => {
  const ngrams = createNgramEmbed();
  const indexWith = async (id: string) => {
    const texts: string[] = [];
    const embed = {
      ...ngrams,
      id,
      dimensions: id === MINILM ? 384 : ngrams.dimensions,
      embed: async (asked: readonly string[]) => {
        texts.push(...asked);
        return (await ngrams.embed(asked)).map((vector) => vector.subarray(0, embed.dimensions));
      },
    };
    const index = createLessonIndex({ embed, first: embed }, (one) => audienceOf(one, undefined));
    await index.update([lesson('one', { description: 'When a release is cut' })]);
    await index.settled();
    return { known: IDLE_REQUESTS.filter((_, row) => index.idle.has(row)), texts };
  };
  const [own, other] = [await indexWith(MINILM), await indexWith('another')];
  for (const { known } of [own, other]) expect(known).toEqual(IDLE_REQUESTS);
  expect(IDLE_REQUESTS.some((text) => own.texts.includes(text))).toBe(false);
  expect(other.texts).toEqual(expect.arrayContaining([...IDLE_REQUESTS]));
});
