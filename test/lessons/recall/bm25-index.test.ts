import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Bm25Index,
  countTerms,
  createBm25Index,
  searchTerms,
} from '../../../src/lessons/recall/bm25-index.ts';

const SLOTS = 6;
const scoresOf = (index: Bm25Index, text: string): readonly number[] => {
  const scores = new Float32Array(SLOTS);
  for (const term of index.terms(text)) index.score(term, scores);
  return [...scores];
};
const words = fc
  .array(fc.constantFrom('git', 'push', 'force', 'deploy', 'api_key', 'src/app.ts', '--force', 'index'), {
    maxLength: 12,
  })
  .map((list) => list.join(' '));

describe('the BM25 index', () => {
  it('scores after any adding and removing like an index built from scratch', () => {
    const change = fc.record({
      slot: fc.nat(SLOTS - 1),
      text: fc.option(fc.record({ head: words, body: words }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), words, (changes, query) => {
        const changed = createBm25Index();
        const last = new Map<number, { head: string; body: string }>();
        for (const { slot, text } of changes) {
          if (text === undefined) changed.remove(slot);
          else changed.add(slot, countTerms(text));
          if (text === undefined) last.delete(slot);
          else last.set(slot, text);
        }
        const fresh = createBm25Index();
        for (const [slot, text] of last) fresh.add(slot, countTerms(text));
        expect(changed.size).toBe(fresh.size);
        expect(scoresOf(changed, query)).toEqual(scoresOf(fresh, query));
      }),
    );
  });

  it('finds a name whole and by its parts', () => {
    const index = createBm25Index();
    index.add(0, countTerms({ head: 'the ECONNREFUSED error of fetchUser', body: 'set max_old_space_size' }));
    index.add(1, countTerms({ head: 'something else', body: 'about users' }));
    for (const text of ['fetchUser', 'user fetching', 'max_old_space_size', 'old space', 'ECONNREFUSED'])
      expect(scoresOf(index, text)[0], text).toBeGreaterThan(scoresOf(index, text)[1] ?? 0);
  });

  it('gives a rare word more weight than a common one, and never more than 1', () => {
    const index = createBm25Index();
    for (let slot = 0; slot < SLOTS; slot++)
      index.add(slot, countTerms({ head: `file word${slot}`, body: '' }));
    const weight = (text: string): number => index.terms(text)[0]?.weight ?? Number.NaN;
    expect(weight('word3')).toBeGreaterThan(weight('file'));
    expect(weight('unheard')).toBe(1);
  });
});

describe('terms', () => {
  it('keep flags, paths, codes, versions and dates whole, and split them as well', () => {
    const { words: parts, names } = searchTerms(
      'git push --force src/app.ts TS2532 v1.2.0 2026-11-15 snake_case camelCase',
    );
    expect(names).toEqual([
      '--force',
      'src/app.ts',
      'ts2532',
      'v1.2.0',
      '2026-11-15',
      'snake_case',
      'camelcase',
    ]);
    expect(parts).toEqual(expect.arrayContaining(['forc', 'src', 'app', 'snak', 'case', 'camel', '2026']));
  });

  it('are the same for the forms of a word', () => {
    const one = (text: string): readonly string[] => searchTerms(text).words;
    expect(one('deploying deployed deployments deploys')).toEqual(['deploy', 'deploy', 'deploy', 'deploy']);
    expect(one('migrations migrate migrating')).toEqual(['migrat', 'migrat', 'migrat']);
    expect(one("don't the of a")).toEqual([]);
  });

  it('are bigrams in scripts without spaces', () => {
    expect(searchTerms('数据库').words).toEqual(['数据', '据库']);
  });

  it('are found in any text without an error', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void searchTerms(text)));
  });
});
