import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outlineChat } from '../../src/wire/openai-chat/openai-chat.ts';
import { splice } from '../../src/wire/splice.ts';
import { runsOf } from '../support/counts.ts';
import { text } from './json-text.ts';

describe('splice', () => {
  it('equals a byte-by-byte rewrite, for insertions in any order', () => {
    const edits = fc.array(fc.tuple(fc.nat(20), text), { maxLength: 6 });
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 20 }),
        edits,
        fc.option(fc.tuple(fc.nat(20), fc.nat(20), text)),
        (body, pairs, swap) => {
          const before = Buffer.from(body);
          const span =
            swap &&
            ([swap[0], swap[1]].map((n) => Math.min(n, body.length)).sort((a, b) => a - b) as [
              number,
              number,
            ]);
          const insertions = pairs
            .map(([at, text]) => ({ at: Math.min(at, body.length), text }))
            .filter(({ at }) => !span || at <= span[0] || at >= span[1]);

          const parts: Buffer[] = [];
          for (let i = 0; i <= body.length; i++) {
            for (const { at, text } of insertions) if (at === i) parts.push(Buffer.from(text));
            if (swap && span && span[0] === i) parts.push(Buffer.from(swap[2]));
            if (i < body.length && !(span && i >= span[0] && i < span[1]))
              parts.push(Buffer.of(body[i] ?? 0));
          }
          const out = splice(
            body,
            swap && span ? { insertions, replacements: [{ span, text: swap[2] }] } : { insertions },
          );
          expect(Buffer.concat(out).equals(Buffer.concat(parts))).toBe(true);
          expect(before.equals(body)).toBe(true);
        },
      ),
      runsOf(1000, 3_000),
    );
  });

  it('keeps the order of insertions that share an offset', () => {
    const insertions = [
      { at: 2, text: 'c' },
      { at: 1, text: 'a' },
      { at: 1, text: 'b' },
    ];
    expect(Buffer.concat(splice(Buffer.from('xyz'), { insertions })).toString()).toBe('xabycz');
  });

  it('slices the long stretches of a body instead of copying them', () => {
    const body = Buffer.from(`"${'x'.repeat(100_000)}"`);
    const pieces = splice(body, { insertions: [{ at: 3, text: 'lesson' }] });
    expect(Buffer.concat(pieces).toString()).toBe(`"xxlesson${'x'.repeat(99_998)}"`);
    expect(pieces.length).toBe(2);
    expect(pieces[1]?.buffer).toBe(body.buffer);
  });

  it('counts bytes, not characters', () => {
    expect(
      Buffer.concat(splice(Buffer.from('é"é'), { insertions: [{ at: 2, text: '😀é' }] })).toString(),
    ).toBe('é😀é"é');
  });

  it('replaces the model’s name and inserts a block in the same pass', () => {
    const body = Buffer.from('{"model":"\\u0061lias","messages":[{"role":"system","content":"a"}]}');
    const outline = outlineChat(body);
    const span = outline?.modelSpan ?? [0, 0];
    const out = splice(body, {
      insertions: outline?.place('é') ?? [],
      replacements: [{ span, text: '"real"' }],
    });
    expect(Buffer.concat(out).toString()).toBe(
      '{"model":"real","messages":[{"role":"system","content":"a\\n\\né"}]}',
    );
  });
});
