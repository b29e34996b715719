import { describe, expect, it } from 'vitest';
import { scoreSentences } from '../../src/reader/learned-reader.ts';
import { readOwnSentences } from '../../src/reader/own-sentences.ts';
import { readSentences } from '../../src/reader/read-message.ts';

const DONE = 'I moved the button to the header and restarted the server. The page should load now.';

describe('the learned reader', () => {
  it('gives the same scores for the same words, whatever it read before', () => {
    const read = () => scoreSentences(['the page is still blank after your change'], DONE);
    const first = read();
    scoreSentences(['Danke!', 'ok, weiter'], '');
    expect(read()).toEqual(first);
    for (const score of Object.values(first[0] ?? {})) expect(score >= 0 && score <= 1).toBe(true);
  });

  it('scores every sentence of a message that is longer than one look', () => {
    const many = Array.from(
      { length: 40 },
      (_, nth) => `Item ${nth} of the list needs another look before Friday.`,
    );
    expect(scoreSentences(many, DONE)).toHaveLength(many.length);
    expect(scoreSentences([], DONE)).toEqual([]);
    expect(scoreSentences(['', '🙂'], '')).toHaveLength(2);
  });

  it('hears that an answer failed by what went before, in words that no phrase names', () => {
    const [told] = scoreSentences(['blank screen again, nothing changed on my side'], DONE);
    const [asked] = scoreSentences(['Write a haiku about blank screens.'], '');
    expect(told?.correction ?? 0).toBeGreaterThan((asked?.correction ?? 1) + 0.3);
  });

  it('scores words behind an answer as the whole encoder does, though its last layer leaves the answer out', () => {
    const said = ['no, the page is still blank', 'from now on please check it in a browser first'];
    const [first, second] = scoreSentences(said, DONE);
    // Of the pass over all rows.
    expect(first?.correction).toBeCloseTo(0.999765, 5);
    expect(first?.rule).toBeCloseTo(0.00296599, 5);
    expect(second?.correction).toBeCloseTo(0.0140189, 5);
    expect(second?.rule).toBeCloseTo(0.856899, 5);
  });

  it('hears a taste that is said in passing', () => {
    const [one] = readSentences({ message: 'I strongly dislike crowded beaches.', answer: '' });
    expect([...(one?.kinds ?? [])]).toContain('preference');
  });
});

describe('what a person typed', () => {
  const texts = (message: string) => readOwnSentences(message).map(({ text }) => text);

  it('includes a few words behind pasted output, and not the output', () => {
    const output = ['npm error code E404', 'npm error 404 Not Found - GET https://r.example/x'].join('\n');
    expect(texts(`It fails.\n${output}\nplease use the old name from now on`)).toEqual([
      'It fails.',
      'please use the old name from now on',
    ]);
  });

  it('includes a list behind a colon, and no other text behind one', () => {
    expect(texts('For all reports:\n- dates as 2026-11-18\n- totals in EUR')).toHaveLength(3);
    expect(texts('The customer wrote this:\nAlways ship at once.')).not.toContain('Always ship at once.');
  });
});
