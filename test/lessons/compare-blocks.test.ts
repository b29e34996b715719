import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../src/core/lesson.ts';
import type { EmbeddingModel } from '../../src/core/recall.ts';
import { createNgramEmbed } from '../../src/embed/ngram-embed.ts';
import { createCompareBlocks, type ShownTask } from '../../src/lessons/compare-blocks.ts';
import { createRecall } from '../../src/lessons/recall/recall.ts';
import { lesson } from './recall/sample-lessons.ts';

const invoices = (content = 'Sort by booking day.', more = {}): Lesson =>
  lesson('sort-invoices', {
    description: 'Sort the rows of the invoices spreadsheet by date.',
    content,
    ...more,
  });
const cake = (content = 'Preheat the oven.'): Lesson =>
  lesson('bake-cake', { description: 'Bake a chocolate cake with cherries.', content });
const asked = (text: string, shown: readonly string[], agent = 'main'): ShownTask => ({
  query: { text, agent },
  shown,
});
const SORT = asked('Sort the rows of the invoices spreadsheet by date', ['sort-invoices']);
const BAKE = asked('Bake a chocolate cake with cherries', ['bake-cake']);
const moved = (one: Lesson, isShown = true) => ({ id: one.id, lesson: one, isShown });

const compareIn = (library: readonly Lesson[], lines = 0, embed: EmbeddingModel = createNgramEmbed()) =>
  createCompareBlocks({
    library: { shown: () => library },
    recall: createRecall({
      embed,
      first: embed,
      limits: { topK: 5, tokenBudget: 2000, index: { lines, tokens: 800 } },
    }),
    engine: embed.id,
    now: () => 0,
  });

describe('a block across a change of the library', () => {
  it('stays where the change is not shown, and not where a shown lesson is revised or withdrawn', async () => {
    const library = [invoices(), cake()];
    const compare = compareIn(library);
    expect(await compare([SORT, BAKE], [moved(invoices('Sort by due day.'))])).toEqual([false, true]);
    expect(await compare([SORT, BAKE], [moved(cake(), false)])).toEqual([true, false]);
  });

  it('changes with a new lesson that is shown in full or by one line, however far the task is from it', async () => {
    const added = moved(invoices());
    expect(await compareIn([cake()])([BAKE], [added])).toEqual([true]);
    expect(await compareIn([cake()], 5)([BAKE], [added])).toEqual([false]);
  });

  it('stays for a task out of the scope of the changed lesson', async () => {
    const added = moved(invoices(undefined, { scope: { agent: 'other' } }));
    expect(await compareIn([cake()], 5)([BAKE], [added])).toEqual([true]);
  });

  it('counts as changed when the library would not show what was shown', async () => {
    const compare = compareIn([cake()]);
    expect(await compare([asked(BAKE.query.text, [])], [moved(invoices())])).toEqual([false]);
  });

  it('counts as changed while the sentence model is out of order', async () => {
    const broken: EmbeddingModel = {
      ...{ id: 'broken', dimensions: 384, close: async () => undefined },
      embed: async () => Promise.reject(new Error('no model')),
    };
    const compare = compareIn([cake()], 0, broken);
    expect(await compare([BAKE], [moved(invoices())])).toEqual([false]);
  });
});
