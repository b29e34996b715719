import { describe, expect, it, vi } from 'vitest';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import {
  createQueryEmbedding,
  type EmbeddingRateLimit,
} from '../../../src/lessons/recall/query-embedding.ts';

const DEMAND = { atOnce: 2, perSecond: 2 };

/** A model that counts its calls, and a manual clock. */
function open(demand?: EmbeddingRateLimit, more: Partial<EmbeddingModel> = {}) {
  const ngrams = createNgramEmbed();
  const scene = { now: 0, asked: [] as string[], read: [] as (number | undefined)[] };
  const embed: EmbeddingModel = {
    ...ngrams,
    embed: (texts, most) => {
      scene.asked.push(...texts);
      scene.read.push(most);
      return ngrams.embed(texts);
    },
    ...more,
  };
  return { scene, queries: createQueryEmbedding(embed, demand, () => scene.now) };
}

describe('the embedding of a query', () => {
  it('is not there at the first turn, which does not wait, and is for the next; asked for twice, computed once', async () => {
    const { scene, queries } = open();
    expect(queries.recent('one')).toBeUndefined();
    queries.request('one');
    queries.request('one');
    expect(queries.recent('one')).toBeUndefined();
    await vi.waitFor(() => expect(queries.recent('one')).toBeInstanceOf(Float32Array));
    queries.request('one');
    expect(await queries.wait('one')).toBe(queries.recent('one'));
    expect(scene.asked).toEqual(['one']);
  });

  it('is waited for by whoever is in no hurry', async () => {
    const { queries } = open();
    expect(await queries.wait('one')).toBeInstanceOf(Float32Array);
    expect(queries.recent('one')).toBeInstanceOf(Float32Array);
  });

  it('is computed for every request at the rate of people', async () => {
    const { scene, queries } = open(DEMAND);
    for (let nth = 0; nth < 5; nth++) {
      scene.now += 600;
      queries.request(`task ${nth}`);
      await vi.waitFor(() => expect(queries.recent(`task ${nth}`)).toBeInstanceOf(Float32Array));
    }
  });

  it('is not computed during a flood, and is again soon after it', async () => {
    const { scene, queries } = open(DEMAND);
    for (let nth = 0; nth < 1000; nth++) {
      scene.now += 10;
      queries.request(`flood ${nth}`);
    }
    await vi.waitFor(() => expect(scene.asked.length).toBeGreaterThan(0));
    expect(scene.asked.length).toBeLessThan(5);
    expect(await queries.wait('someone in no hurry')).toBeInstanceOf(Float32Array);
    scene.now += 3000;
    queries.request('after it');
    await vi.waitFor(() => expect(queries.recent('after it')).toBeInstanceOf(Float32Array));
  });

  it('says why the model failed, until it answers again', async () => {
    let isBroken = true;
    const ngrams = createNgramEmbed();
    const { queries } = open(undefined, {
      embed: (texts) => (isBroken ? Promise.reject(new Error('no weights')) : ngrams.embed(texts)),
    });
    expect(await queries.wait('one')).toBeUndefined();
    expect(queries.failure()).toBe('no weights');
    isBroken = false;
    expect(await queries.wait('one')).toBeInstanceOf(Float32Array);
    expect(queries.failure()).toBeUndefined();
  });

  it('is that of the first word pieces of a task: a long one costs no more', async () => {
    const { scene, queries } = open();
    await queries.wait('a task');
    expect(scene.read).toEqual([48]);
  });
});
