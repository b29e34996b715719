import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SseEvent } from '../../src/core/wire.ts';
import { createSseDecoder, encodeSse } from '../../src/wire/sse.ts';
import { createRandom, pick } from './random.ts';
import { decodeWholeStream } from './sse-reference.ts';

const decode = (...chunks: readonly (string | Uint8Array)[]): readonly SseEvent[] => {
  const decoder = createSseDecoder();
  return chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk)));
};
const message = (data: string, event?: string): SseEvent => ({ event, data });

const PIECES = [
  ...['data', 'data:', 'data: ', 'event:', 'event: x', 'id: 1', 'retry: 5', ':', ' ', 'x', 'datas: no', '{}'],
  ...['\ndata: y', '\ndata:z\n', '\rdata\r', '\r\ndata: é\r\n', '\ndata: w\n\n', '\nevent: e\ndata: v\n'],
  ...['\n', '\n', '\n\n', '\n\n', '\r', '\r\n', '\r\n\r\n', '\ufeff', 'é', '😀', '\u2028', '\u0000'],
] as const;

function randomStream(random: () => number): Buffer {
  const parts: Buffer[] = [];
  const count = Math.floor(random() * 24);
  for (let i = 0; i < count; i++) {
    if (random() < 0.85) parts.push(Buffer.from(pick(random, ['', ...PIECES])));
    else parts.push(Buffer.of(Math.floor(random() * 256)));
  }
  return Buffer.concat(parts);
}

function pushInPieces(bytes: Buffer, random: () => number, maxEventBytes: number): [SseEvent[], boolean] {
  const decoder = createSseDecoder({ maxEventBytes });
  const events: SseEvent[] = [];
  const longest = pick(random, [1, 2, 3, 7, 30]);
  for (let at = 0; at < bytes.length; ) {
    const next = at + Math.floor(random() * (longest + 1));
    const chunk = Uint8Array.from(bytes.subarray(at, next));
    events.push(...decoder.push(chunk));
    chunk.fill(0x0a);
    at = next;
  }
  return [events, decoder.overflow];
}

describe('createSseDecoder', () => {
  it('returns the same events however the bytes are split (6,000 streams)', () => {
    let events = 0;
    let overflows = 0;
    for (let seed = 0; seed < 6_000; seed++) {
      const random = createRandom(seed);
      const bytes = randomStream(random);
      const maxEventBytes = seed % 3 === 0 ? Math.floor(random() * 20) : 1_000;
      const decoder = createSseDecoder({ maxEventBytes });
      const whole = decoder.push(bytes);
      const [pieces, overflow] = pushInPieces(bytes, random, maxEventBytes);
      assert.deepEqual(pieces, whole, `seed ${seed}`);
      assert.equal(overflow, decoder.overflow, `seed ${seed}`);
      events += whole.length;
      if (overflow) overflows++;
    }
    expect(events).toBeGreaterThan(2_000);
    expect(overflows).toBeGreaterThan(200);
  });

  it('agrees with a step-by-step implementation of the standard on any bytes (15,000 streams)', () => {
    for (let seed = 0; seed < 15_000; seed++) {
      const random = createRandom(1e6 + seed);
      const bytes = randomStream(random);
      const decoder = createSseDecoder();
      assert.deepEqual(
        decoder.push(bytes),
        decodeWholeStream(bytes),
        `seed ${seed}: ${JSON.stringify(`${bytes}`)}`,
      );
    }
  });

  it('reads back what encodeSse writes', () => {
    fc.assert(
      fc.property(
        fc.option(fc.stringMatching(/^[a-z._]+$/), { nil: undefined }),
        fc.string(),
        (event, data) => {
          const lines = data.replace(/\r\n|\r/g, '\n');
          expect(decode(encodeSse(event, data))).toEqual([message(lines, event)]);
        },
      ),
    );
  });

  it('ends lines at CR, LF and CRLF, also when a CRLF is split', () => {
    expect(decode('data: a\r\rdata: b\n\ndata: c\r\n\r\n')).toEqual(
      ['a', 'b', 'c'].map((data) => message(data)),
    );
    expect(decode('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual([message('a\nb')]);
    expect(decode('data: a\r', '', '\n', '\r')).toEqual([message('a')]);
  });

  it('returns an event at the CR of its blank line (not only at the LF)', () => {
    const decoder = createSseDecoder();
    expect(decoder.push(Buffer.from('data: a\r\n\r'))).toEqual([message('a')]);
    expect(decoder.push(Buffer.from('\ndata: b\n\n'))).toEqual([message('b')]);
  });

  it('drops a byte order mark at the start only', () => {
    expect(decode('\ufeffdata: a\n\n\ufeffdata: b\n\ndata: \ufeffc\n\n')).toEqual([
      message('a'),
      message('\ufeffc'),
    ]);
    expect(decode(Buffer.of(0xef), Buffer.of(0xbb), Buffer.of(0xbf), 'data: a\n\n')).toEqual([message('a')]);
  });

  it('removes exactly one space after the colon', () => {
    expect(decode('data:  a\n\ndata:b\n\n')).toEqual([message(' a'), message('b')]);
  });

  it('dispatches `data` without a value as empty text, and a block without data not at all', () => {
    expect(decode('data\n\ndata\ndata\n\ndata:\n\n')).toEqual([message(''), message('\n'), message('')]);
    expect(decode('event: x\n\n: hello\n\nid: 1\n\ndata: a\n\n')).toEqual([message('a')]);
  });

  it('drops an event that the end of the stream truncates', () => {
    expect(decode('data: a\n\ndata: b\n')).toEqual([message('a')]);
  });

  it('joins a code point that arrives byte by byte', () => {
    const bytes = [...Buffer.from('data: 😀é\n\n')].map((byte) => Buffer.of(byte));
    expect(decode(...bytes)).toEqual([message('😀é')]);
  });

  it('reads one line of 8 MB in chunks of 1,000 bytes', () => {
    const decoder = createSseDecoder();
    const chunk = Buffer.alloc(1_000, 'x');
    decoder.push(Buffer.from('data: '));
    for (let i = 0; i < 8_000; i++) expect(decoder.push(chunk).length).toBe(0);
    expect(decoder.push(Buffer.from('\n\n'))).toEqual([message('x'.repeat(8_000_000))]);
    expect(decoder.push(Buffer.from('data: next\n\n'))).toEqual([message('next')]);
  });

  it.each([
    ['one line', 'data: 0123456789'],
    ['many lines', 'data\ndata\ndata\n'],
    ['a comment', ':0123456789'],
    ['a whole event', 'data: 0123456789\n\n'],
  ])('stops at %s over the limit, keeps the events before, and reports the overflow', (_what, excess) => {
    const decoder = createSseDecoder({ maxEventBytes: 10 });
    expect(decoder.push(Buffer.from(`data: abcd\n\n${excess}`))).toEqual([message('abcd')]);
    expect(decoder.overflow).toBe(true);
    expect(decoder.push(Buffer.from('\n\ndata: b\n\n'))).toEqual([]);
  });

  it('does not add up the sizes of separate events', () => {
    const decoder = createSseDecoder({ maxEventBytes: 10 });
    expect(decoder.push(Buffer.from('data: abcd\n\n'.repeat(50)))).toHaveLength(50);
    expect(decoder.overflow).toBe(false);
  });
});
