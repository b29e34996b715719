import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddingModel } from '../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../src/embed/minilm-embed.ts';
import { createNgramEmbed } from '../../src/embed/ngram-embed.ts';
import { createStaticEmbed, firstLookFor, isFirstLook, STATIC } from '../../src/embed/static-embed.ts';

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
  a === undefined || b === undefined
    ? Number.NaN
    : a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

function describeEmbed(name: string, create: () => EmbeddingModel): void {
  describe(`${name} as an Embed`, () => {
    let embed: EmbeddingModel;
    beforeAll(() => {
      embed = create();
    });
    afterAll(() => embed.close());

    it('gives one unit vector per text, in the order of the texts', async () => {
      const texts = ['rotate the api keys', 'bake bread', ''];
      const vectors = await embed.embed(texts);
      expect(vectors.map((vector) => vector.length)).toEqual(texts.map(() => embed.dimensions));
      for (const vector of vectors) expect(cosine(vector, vector)).toBeCloseTo(1, 4);
      const [again] = await embed.embed(['bake bread']);
      expect([...(again ?? [])]).toEqual([...(vectors[1] ?? [])]);
    });

    it('gives no vectors for no texts (and does not wait for a model)', async () => {
      expect(await embed.embed([])).toEqual([]);
    });

    it('puts a text nearer to one about the same topic than to an unrelated one', async () => {
      const [query, near, far] = await embed.embed([
        'the database migration failed',
        'how to run database migrations safely',
        'write a birthday card for my aunt',
      ]);
      expect(cosine(query, near)).toBeGreaterThan(cosine(query, far) + 0.1);
    });

    it('embeds a text of a megabyte', async () => {
      const [vector] = await embed.embed(['lorem ipsum '.repeat(90_000)]);
      expect(cosine(vector, vector)).toBeCloseTo(1, 4);
    });

    it('rejects waiting and new calls once it is closed', async () => {
      const closing = create();
      const waiting = closing.embed(['a text']).then(
        () => 'answered',
        () => 'rejected',
      );
      await closing.close();
      await expect(closing.embed(['another'])).rejects.toThrow('closed');
      expect(['answered', 'rejected']).toContain(await waiting);
    });
  });
}

describeEmbed('ngram', createNgramEmbed);
describeEmbed('the static table', createStaticEmbed);
describeEmbed('MiniLM', () => createMiniLmEmbed());

describe('the static table', () => {
  it('puts a text next to what the sentence model makes of it, and finds similar texts that share no word', async () => {
    const [table, model] = [createStaticEmbed(), createMiniLmEmbed()];
    const texts = [
      'the container restarts over and over in the cluster',
      'use ISO dates in the shipping report',
      'find a slot for a call with colleagues in Tokyo',
    ];
    const [looked, read] = [await table.embed(texts), await model.embed(texts)];
    for (const [at, vector] of looked.entries()) {
      expect(cosine(vector, read[at])).toBeGreaterThan(0.6);
      for (const other of read.toSpliced(at, 1)) expect(cosine(vector, other)).toBeLessThan(0.4);
    }
    const [query, near, far] = await table.embed(['my car will not start', 'engine repair', 'tax returns']);
    expect(cosine(query, near)).toBeGreaterThan(cosine(query, far));
    await Promise.all([table.close(), model.close()]);
  });

  it('looks first where the sentence model looks again; another model looks once', () => {
    const ngrams = createNgramEmbed();
    expect(firstLookFor(ngrams)).toBe(ngrams);
    expect(firstLookFor(createMiniLmEmbed()).id).toBe(STATIC);
    expect(['static-minilm/384', 'ngram/512', 'minilm-l6-v2/384'].map(isFirstLook)).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('MiniLM', () => {
  it('finds similar texts that share no word', async () => {
    const embed = createMiniLmEmbed();
    const [query, near, far] = await embed.embed(['my car will not start', 'engine repair', 'tax returns']);
    await embed.close();
    expect(cosine(query, near)).toBeGreaterThan(cosine(query, far));
  });

  it('is ready once its first vector came; with a limit it reads only the first word pieces', async () => {
    const embed = createMiniLmEmbed();
    expect(embed.isReady?.()).toBe(false);
    const text = 'the payment worker stops after the deployment of the new release to production';
    const [whole] = await embed.embed([text]);
    expect(embed.isReady?.()).toBe(true);
    const [start, longer] = [
      await embed.embed([text], 8),
      await embed.embed([`${text} and nobody knows why`], 8),
    ];
    await embed.close();
    expect(start).toEqual(longer);
    expect(start).not.toEqual([whole]);
  });

  it('reads a text once for all who ask for it, and again only for more of its pieces, or fewer', async () => {
    const embed = createMiniLmEmbed();
    const vectorOf = async (text: string, most?: number) => (await embed.embed([text], most))[0];
    const short = await vectorOf('rotate the api keys');
    const [other, same] = await embed.embed(['bake bread', 'rotate the api keys']);
    const long = `${'the payment worker stops '.repeat(12)}after the deployment`;
    const start = await vectorOf(long, 48);
    const [whole, again, startAgain] = [
      await vectorOf(long),
      await vectorOf(long, 48),
      await vectorOf(long, 48),
    ];
    expect(same).toBe(short);
    expect(other).not.toEqual(short);
    expect(await vectorOf('rotate the api keys', 48)).toBe(short);
    expect(await vectorOf('rotate the api keys', 4)).not.toEqual(short);
    expect(whole).not.toEqual(start);
    expect(again).toEqual(start);
    expect(startAgain).toBe(again);
    await embed.close();
  });

  it('answers a query before the rest of an earlier long list', async () => {
    const embed = createMiniLmEmbed();
    const order: string[] = [];
    const texts = Array.from({ length: 12 }, (_, n) => `lesson number ${n}`);
    const bulk = embed.embed(texts).then(() => order.push('bulk'));
    await embed.embed(['the first one starts the thread']);
    await embed.embed(['query']).then(() => order.push('query'));
    await bulk;
    await embed.close();
    expect(order).toEqual(['query', 'bulk']);
  });

  it('rejects when its thread cannot start (and does not wait forever)', async () => {
    const embed = createMiniLmEmbed(pathToFileURL('/no/such/thread.js'));
    await expect(embed.embed(['a'])).rejects.toThrow();
    await expect(embed.embed(['b'])).rejects.toThrow();
    await embed.close();
  });
});
