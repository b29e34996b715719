import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createKeptEmbedding } from '../../../src/lessons/recall/kept-embedding.ts';
import { vectorKeysOf } from '../../../src/lessons/recall/lesson-texts.ts';
import { openVectorCache } from '../../../src/lessons/recall/vector-cache.ts';
import { comparedText } from '../../../src/lessons/similar/compare.ts';
import { LESSONS } from './sample-lessons.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-kept-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const texts = Array.from(
  { length: 150 },
  (_, n) => `${comparedText(LESSONS[n % LESSONS.length] ?? fail())} ${n}`,
);
function fail(): never {
  throw new Error('there are no lessons');
}

/** Opens the file as a start does, and counts what the model is asked. */
async function opened() {
  const model = createNgramEmbed();
  const asked: string[] = [];
  const cache = await openVectorCache(path.join(dir, 'vectors'), model.id, model.dimensions);
  const embed = createKeptEmbedding(
    {
      embed: (wanted) => {
        asked.push(...wanted);
        return model.embed(wanted);
      },
    },
    cache,
  );
  return { embed, cache, asked, model };
}

describe('vectors of texts that stay', () => {
  it('are computed once, also over a restart, and come back in order', async () => {
    const first = await opened();
    const before = await first.embed(texts);
    expect(first.asked).toEqual(texts);
    await first.cache.close();
    const second = await opened();
    const mixed = [texts[7] ?? '', 'a new one', ...texts.slice(60)];
    const after = await second.embed(mixed);
    expect(second.asked).toEqual(['a new one']);
    await second.cache.close();
    const plain = await second.model.embed(mixed);
    expect(before).toHaveLength(texts.length);
    for (const [at, vector] of after.entries())
      for (const [place, value] of vector.entries())
        expect(Math.abs(value - (plain[at]?.[place] ?? 0))).toBeLessThan(0.01);
  });

  it('of lessons that are still shown outlive an erasure, those of others do not', async () => {
    const { embed, cache, asked } = await opened();
    const [kept, gone] = LESSONS;
    if (kept === undefined || gone === undefined) return fail();
    await embed([comparedText(kept), comparedText(gone)]);
    await cache.keepOnly(vectorKeysOf([kept]));
    asked.length = 0;
    await embed([comparedText(kept), comparedText(gone)]);
    expect(asked).toEqual([comparedText(gone)]);
    await cache.close();
  });
});
