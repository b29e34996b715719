import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrefixTree, segmentsUpTo } from '../../../../train/nano/model/prefix-tree.ts';

const sequences = fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 12,
});

describe('a prefix tree', () => {
  it('stores each shared prefix once, gives every sequence its rows in order, and predicts the cost of adding one', () => {
    let shared = 0;
    fc.assert(
      fc.property(sequences, (lists) => {
        const tree = createPrefixTree();
        let cost = 0;
        for (const list of lists) {
          cost += tree.cost(Int32Array.from(list));
          tree.add(Int32Array.from(list));
        }
        const { tokens, segments, rowsOf } = tree.rows();
        const beginnings = new Set(lists.flatMap((list) => list.map((_, i) => list.slice(0, i + 1).join())));
        expect(tokens).toHaveLength(beginnings.size);
        expect(cost).toBe(beginnings.size);
        expect(rowsOf.map((rows) => Array.from(rows, (row) => tokens[row]))).toEqual(lists);
        for (const segment of segments) {
          expect(segment.position).toBe(
            segment.parent === undefined ? 0 : segment.parent.position + segment.parent.length,
          );
          expect(segmentsUpTo(segment).reduce((sum, { length }) => sum + length, 0)).toBe(
            segment.position + segment.length,
          );
          if (segment.parent !== undefined)
            expect(segments.indexOf(segment.parent)).toBeLessThan(segments.indexOf(segment));
        }
        shared += lists.flat().length - beginnings.size;
      }),
    );
    expect(shared).toBeGreaterThan(100);
  });
});
