import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitHidden } from '../../web/src/lib/hidden-characters.ts';
import { parseMarkdown } from '../../web/src/lib/markdown.ts';

const shown = (text: string): string =>
  splitHidden(text)
    .map((piece) => (typeof piece === 'string' ? piece : `[${piece.code}]`))
    .join('');

describe('text of others', () => {
  it.each([
    ['user\u202Egnp.exe', 'user[U+202E]gnp.exe'],
    ['pass\u200Bword\uFEFF', 'pass[U+200B]word[U+FEFF]'],
    ['\u001b[31mred\u001b[0m', '[ESC[31m]red[ESC[0m]'],
    ['a\r\nb\tc', 'a\nb\tc'],
    ['over\rwritten', 'over[U+000D]written'],
    ['\u{E0041}', '[U+E0041]'],
    ['lone \ud800', 'lone [U+D800]'],
    // A picture of several code points hides nothing; the same joiner between letters does.
    ['👩‍💻 and ❤️', '👩‍💻 and ❤️'],
    ['a\u200Db', 'a[U+200D]b'],
    ['Zażółć العربية 日本語', 'Zażółć العربية 日本語'],
  ])('%j is shown as %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('loses nothing and hides nothing, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const plain = splitHidden(text).filter((piece) => typeof piece === 'string');
        for (const piece of plain)
          expect(piece).not.toMatch(/[\u202A-\u202E\u2066-\u2069]|(?![\n\t])\p{Cc}/u);
        const count = splitHidden(text).reduce(
          (sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0),
          0,
        );
        expect(count).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 40 },
    );
  });
});

describe('markdown', () => {
  it('knows paragraphs, lists, code, quotes and emphasis, and keeps HTML as text', () => {
    expect(
      parseMarkdown('**a** `b`\n\n1. one\n2. two\n  - deep\n\n```ts\n<b>x</b>\n```\n> said\n# Title'),
    ).toEqual([
      { is: 'paragraph', text: [{ is: 'strong', text: 'a' }, ' ', { is: 'code', text: 'b' }] },
      {
        is: 'list',
        ordered: true,
        items: [
          { depth: 0, text: ['one'] },
          { depth: 0, text: ['two'] },
          { depth: 1, text: ['deep'] },
        ],
      },
      { is: 'code', language: 'ts', text: '<b>x</b>' },
      { is: 'quote', text: ['said'] },
      { is: 'heading', text: ['Title'] },
    ]);
    expect(parseMarkdown('<img src=x onerror=y>')).toEqual([
      { is: 'paragraph', text: ['<img src=x onerror=y>'] },
    ]);
  });

  it('shows a link as its words and its address, never as something to follow', () => {
    expect(parseMarkdown('[click](javascript:run)')).toEqual([
      { is: 'paragraph', text: [{ is: 'link', text: 'click', address: 'javascript:run' }] },
    ]);
  });

  it('keeps every word of snake_case names and of sums such as 2*3*4', () => {
    expect(parseMarkdown('rename customer_no_old, 2*3*4')).toEqual([
      { is: 'paragraph', text: ['rename customer_no_old, 2*3*4'] },
    ]);
  });

  it('ends in time for long texts without an end of their marks', () => {
    const blocks = parseMarkdown(`${'**a '.repeat(20_000)}\n${'`'.repeat(20_000)}\n${'['.repeat(20_000)}`);
    expect(blocks.length).toBeGreaterThan(0);
  });
});

describe('the graph of notes', () => {
  it('gives every note a place inside the picture, and the same one every time', () => {
    const ids = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const links = ids.slice(1).map((to, index) => ({ from: ids[index] ?? '', to }));
    const places = layoutGraph(ids, links, 960, 420);
    expect(places.size).toBe(40);
    for (const { x, y } of places.values()) {
      expect(x).toBeGreaterThan(0);
      expect(x).toBeLessThan(960);
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(420);
    }
    expect([...layoutGraph(ids, links, 960, 420)]).toEqual([...places]);
  });
});

describe('days in one point of a chart', () => {
  const day = (date: string, successes: number, failures: number) => ({
    day: date,
    turns: successes + failures,
    successes,
    failures,
    success: { mean: 0.5, low: 0, high: 1 },
    scored: 1,
    reward: { mean: successes > failures ? 0.6 : 0.2, low: -0.4, high: 1 },
  });
  const week = [
    day('2026-11-01', 1, 0),
    day('2026-11-02', 5, 5),
    day('2026-11-03', 30, 10),
    day('2026-11-04', 0, 0),
  ];

  it('pools successes by their counts, with the interval of Wilson, and leaves single days alone', () => {
    const [first, rest] = poolDays(week, 3);
    expect(first).toMatchObject({ from: '2026-11-01', to: '2026-11-01', success: { mean: 0.5 } });
    expect(rest?.success?.mean).toBeCloseTo(0.7, 3);
    expect(rest?.success?.low).toBeCloseTo(0.562, 2);
    expect(rest?.success?.high).toBeCloseTo(0.809, 2);
  });

  it('has a narrower interval of the reward than any of its days, and none without sessions', () => {
    const [pooled] = poolDays(week.slice(0, 3), 3);
    expect(pooled?.reward?.mean).toBeCloseTo((0.6 + 0.2 + 0.6) / 3, 6);
    expect((pooled?.reward?.high ?? 1) - (pooled?.reward?.low ?? -1)).toBeLessThan(1.4);
    expect(poolDays([{ ...day('2026-11-01', 0, 0), scored: 0, reward: null }], 1)[0]?.reward).toBeNull();
  });
});
