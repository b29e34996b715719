import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createQueryEmbedding } from '../../../src/lessons/recall/query-embedding.ts';

const DEMAND = { atOnce: 2, perSecond: 2 };

/** A model that counts its calls, and a manual clock. */
function open() {
  const ngrams = createNgramEmbed();
  const scene = { now: 0, asked: 0 };
  const embed: EmbeddingModel = {
    ...ngrams,
    embed: (texts) => {
      scene.asked++;
      return ngrams.embed(texts);
    },
  };
  const vectorOf = createQueryEmbedding(embed, 1000, DEMAND, () => scene.now);
  return { scene, vectorOf };
}

describe('the embedding of a query', () => {
  it('is computed once and then cached, also when the rate limit is used up', async () => {
    const { scene, vectorOf } = open();
    const first = await vectorOf('one');
    await vectorOf('two');
    expect(await vectorOf('three')).toBeUndefined();
    expect(await vectorOf('one')).toBe(first);
    expect(scene.asked).toBe(2);
    scene.now = 1500;
    expect(await vectorOf('three')).toBeInstanceOf(Float32Array);
  });

  it('is computed for every request at the rate of people', async () => {
    const { scene, vectorOf } = open();
    for (let nth = 0; nth < 50; nth++) {
      scene.now += 600;
      expect(await vectorOf(`task ${nth}`)).toBeInstanceOf(Float32Array);
    }
    expect(scene.asked).toBe(50);
  });

  it('is not computed during a flood, and is again soon after it', async () => {
    const { scene, vectorOf } = open();
    for (let nth = 0; nth < 1000; nth++) {
      scene.now += 10;
      await vectorOf(`flood ${nth}`);
    }
    expect(scene.asked).toBeLessThan(5);
    expect(await vectorOf('someone in no hurry', true)).toBeInstanceOf(Float32Array);
    scene.now += 3000;
    expect(await vectorOf('after it')).toBeInstanceOf(Float32Array);
  });

  it('is not waited for while the model loads, and is there afterwards', async () => {
    const ngrams = createNgramEmbed();
    let load = (): void => undefined;
    const loaded = new Promise<void>((resolve) => {
      load = resolve;
    });
    const scene = { isReady: false };
    const embed: EmbeddingModel = {
      ...ngrams,
      isReady: () => scene.isReady,
      embed: async (texts) => {
        await loaded;
        return ngrams.embed(texts);
      },
    };
    // A wait for the model would last an hour.
    const vectorOf = createQueryEmbedding(embed, 3_600_000);
    expect(await vectorOf('one')).toBeUndefined();
    expect(await vectorOf('one')).toBeUndefined();
    scene.isReady = true;
    load();
    expect(await vectorOf('one')).toBeInstanceOf(Float32Array);
  });

  it('is waited for as long as the model usually needs, and no longer than four times the patience', async () => {
    const ngrams = createNgramEmbed();
    const scene = { ms: 120 };
    const embed: EmbeddingModel = {
      ...ngrams,
      embed: async (texts) => {
        await sleep(scene.ms);
        return ngrams.embed(texts);
      },
    };
    // Timers of one process fire in the order of their times, however busy the machine is.
    const vectorOf = createQueryEmbedding(embed, 50);
    expect(await vectorOf('one')).toBeInstanceOf(Float32Array);
    expect(await vectorOf('two')).toBeInstanceOf(Float32Array);
    scene.ms = 2000;
    expect(await vectorOf('slow')).toBeUndefined();
    await sleep(2100);
    expect(await vectorOf('slow')).toBeInstanceOf(Float32Array);
    // A wait for it would be in vain now.
    const longer = sleep(150, 'longer');
    expect(await Promise.race([vectorOf('another'), longer])).toBeUndefined();
  });

  it('is that of the first word pieces of a task: a long one costs no more', async () => {
    const read: (number | undefined)[] = [];
    const ngrams = createNgramEmbed();
    const embed: EmbeddingModel = {
      ...ngrams,
      embed: (texts, most) => {
        read.push(most);
        return ngrams.embed(texts);
      },
    };
    await createQueryEmbedding(embed, 1000)('a task');
    expect(read).toEqual([48]);
  });
});
