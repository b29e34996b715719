import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { EmbeddingModel, RecallResult } from '../../../src/core/recall.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { vectorKey } from '../../../src/lessons/recall/embedding-queue.ts';
import { vectorKeysOf } from '../../../src/lessons/recall/lesson-texts.ts';
import { createRecall, type LessonRecall } from '../../../src/lessons/recall/recall.ts';
import { openVectorCache, type VectorCache } from '../../../src/lessons/recall/vector-cache.ts';
import { comparedText } from '../../../src/lessons/similar/compare.ts';
import { LESSONS, lesson, query } from './sample-lessons.ts';

/** Seconds on an idle machine. */
vi.setConfig({ testTimeout: 240_000 });

const create = (embed: EmbeddingModel, cache?: VectorCache): LessonRecall =>
  createRecall({
    embed,
    first: embed,
    limits: { topK: 5, tokenBudget: 2000 },
    ...(cache === undefined ? {} : { vectorCache: cache }),
  });

/** Counts the texts it was given. */
function counting(): EmbeddingModel & { readonly texts: string[] } {
  const texts: string[] = [];
  const embed = createNgramEmbed();
  return {
    ...embed,
    texts,
    embed: (wanted) => {
      texts.push(...wanted);
      return embed.embed(wanted);
    },
  };
}

describe('the index of lessons', () => {
  it('recalls after any updates the same as an index built from scratch', async () => {
    const words = fc.constantFrom('kraken deploy', 'invoice customers', 'csv umlauts', 'git push --force');
    const state = fc.array(
      fc.record({ id: fc.nat(5), text: words, domain: fc.constantFrom('sea', 'land') }),
      {
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(state, { minLength: 1, maxLength: 5 }), words, async (states, asked) => {
        let revision = 0;
        const lessonsOf = (told: (typeof states)[number]): readonly Lesson[] =>
          [...new Map(told.map((one) => [one.id, one])).values()].map(({ id, text, domain }) =>
            lesson(`l${id}`, { description: `When ${text} fails`, revision: ++revision, scope: { domain } }),
          );
        const changed = create(createNgramEmbed());
        let last: readonly Lesson[] = [];
        for (const told of states) {
          last = lessonsOf(told);
          await changed.update(last);
        }
        await changed.settled();
        const fresh = create(createNgramEmbed());
        await fresh.update(last);
        await fresh.settled();
        const [one, other] = await Promise.all(
          [changed, fresh].map(
            async (index): Promise<RecallResult> => index.recall(query(`the ${asked} again`), 0),
          ),
        );
        expect(one).toEqual(other);
        expect(changed.stats().lessons).toBe(last.length);
      }),
      { numRuns: 30 },
    );
  });

  it('embeds only new and revised lessons', async () => {
    const embed = counting();
    const index = create(embed);
    await index.update(LESSONS);
    await index.settled();
    const before = embed.texts.length;
    const [first, ...rest] = LESSONS;
    if (first === undefined) throw new Error('no lessons');
    await index.update([{ ...first, pinned: true }, ...rest]);
    await index.update([{ ...first, revision: 2 }, ...rest]);
    await index.settled();
    expect(embed.texts.length).toBe(before);
    const revised = { ...first, revision: 3, text: { ...first.text, content: 'Do not push at all.' } };
    await index.update([revised, ...rest]);
    await index.settled();
    // Its own sentence, and the whole text; the description is known.
    expect(embed.texts.slice(before)).toEqual([
      'Do not push at all.',
      expect.stringMatching(/^force push with lease\. .*Do not push at all\./s),
    ]);
  });

  it('recalls the new text of a revised lesson, and no removed lesson', async () => {
    const index = create(createNgramEmbed());
    await index.update([...LESSONS, lesson('wakes', { description: 'When the kraken wakes' })]);
    await index.update([...LESSONS, lesson('wakes', { description: 'When the walrus wakes', revision: 2 })]);
    await index.settled();
    const shown = async (text: string) => (await index.recall(query(text), 0)).lessons.map(({ id }) => id);
    expect(await shown('the kraken is awake')).toEqual([]);
    expect(await shown('the walrus is awake')).toEqual(['wakes']);
    await index.update(LESSONS);
    expect(await shown('the walrus is awake')).toEqual([]);
  });

  it('embeds nothing after a restart with a vector cache', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'instar-index-'));
    const texts: (readonly string[])[] = [];
    for (let start = 0; start < 2; start++) {
      const embed = counting();
      const cache = await openVectorCache(path.join(dir, 'vectors'), embed.id, embed.dimensions);
      const index = create(embed, cache);
      await index.update(LESSONS);
      await index.settled();
      expect(index.stats()).toMatchObject({ known: LESSONS.length, waiting: 0 });
      await cache.close();
      texts.push(embed.texts);
    }
    rmSync(dir, { recursive: true, force: true });
    const [first = [], second] = texts;
    expect(second).toEqual([]);
    // Whole lessons are compared with each other elsewhere, and kept in the same file.
    const compared = LESSONS.map(comparedText);
    expect(new Set([...first, ...compared].map(vectorKey))).toEqual(vectorKeysOf(LESSONS));
  });

  it('finds a lesson by its best trigger (not by the mean of all), and by a new one after a revision', async () => {
    const index = create(createNgramEmbed());
    const cued = (triggers: readonly string[], revision: number) =>
      lesson('short', { description: 'You said: "shorter please"', note: { triggers }, revision });
    await index.update([...LESSONS, cued(['the walrus report is too long', 'zzz qqq', 'uuu vvv'], 1)]);
    await index.settled();
    const best = async (text: string) => (await index.recall(query(text), 0)).considered[0]?.id;
    expect(await best('is the walrus report too long?')).toBe('short');
    await index.update([...LESSONS, cued(['a kraken answers'], 2)]);
    await index.settled();
    expect(await best('the kraken answers again')).toBe('short');
  });

  it('yields to the event loop while it recalls from 34,000 lessons', async () => {
    const unit = new Float32Array(32).fill(1 / Math.sqrt(32));
    const instant: EmbeddingModel = {
      id: 'instant',
      dimensions: 32,
      embed: async (texts) => texts.map(() => unit),
      close: async () => undefined,
    };
    const index = createRecall({
      embed: instant,
      first: instant,
      limits: { topK: 5, tokenBudget: 2000 },
    });
    const many = Array.from({ length: 34_000 }, (_, n) => lesson(`l${n}`, { content: `n${n}` }));
    await index.update(many);
    await index.settled();
    let ticks = 0;
    let isDone = false;
    const tick = (): void => {
      ticks++;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    await index.recall(query('where is n27777?'), 0);
    isDone = true;
    expect(ticks).toBeGreaterThan(4);
  });
});
