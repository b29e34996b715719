import { describe, expect, it } from 'vitest';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { applyConsolidation, planConsolidation } from '../../../src/learn/memory/consolidate.ts';
import { wakeArchived } from '../../../src/learn/memory/wake-archived.ts';
import { DAY, openMemoryLibrary } from './memory-library.ts';

const embed = createNgramEmbed();

async function open() {
  const library = await openMemoryLibrary();
  await library.add('keys', {
    description: 'When you rotate the api keys of the payment service.',
    content: 'Rotate the api keys of the payment service with the vault tool.',
  });
  await library.add('rows', {
    description: 'When you sort a ledger.',
    content: 'Sort the rows of a ledger by day.',
  });
  const consolidate = async () =>
    applyConsolidation(
      await planConsolidation(library, {
        now: library.clock.now(),
        embed: embed.embed,
        isByLetters: true,
        isAsked: false,
      }),
      library.library,
    );
  const ask = async (text: string, ago = -1000, scope = {}) => {
    const changes = await wakeArchived(
      [{ text, at: library.clock.now() - ago, scope }],
      library.library,
      embed.embed,
    );
    for (const change of changes) await library.change(change);
    return changes.map(({ id }) => id);
  };
  library.clock.advance(130 * DAY);
  await consolidate();
  return { library, consolidate, ask };
}

describe('an archived lesson', () => {
  it('comes back when a request is about it, in the state that it had, and no other does', async () => {
    const { library, ask } = await open();
    expect(library.lesson('keys').state).toBe('retired');
    expect(await ask('Please rotate the api keys of the payment service now.')).toEqual(['keys']);
    expect(library.lesson('keys').state).toBe('live');
    expect(library.lesson('rows').state).toBe('retired');
  });

  it('is not archived again in the next run: the request counts as a use', async () => {
    const { library, consolidate, ask } = await open();
    await ask('Please rotate the api keys of the payment service now.');
    library.clock.advance(7 * DAY);
    await consolidate();
    expect(library.lesson('keys').state).toBe('live');
    library.clock.advance(130 * DAY);
    await consolidate();
    expect(library.lesson('keys').state).toBe('retired');
  });

  it('stays for requests that came before it was archived, that are of another project, or that share no words', async () => {
    const { library, ask } = await open();
    const words = 'Please rotate the api keys of the payment service now.';
    expect(await ask(words, DAY)).toEqual([]);
    expect(await ask('Write a poem about the sea.')).toEqual([]);
    await library.add('scoped', { content: 'Rotate the tokens of the mail relay.', scope: { project: 'x' } });
    library.clock.advance(130 * DAY);
    await library.change({ op: 'retire', id: 'scoped', reason: 'archived: no session needed it' }, 'person');
    expect(await ask('Rotate the tokens of the mail relay.', -1000, { project: 'y' })).toEqual([]);
    expect(await ask('Rotate the tokens of the mail relay.', -1000, { project: 'x' })).toEqual(['scoped']);
  });
});
