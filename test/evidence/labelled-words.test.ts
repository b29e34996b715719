import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LabelledMessage, type Share, scoreWords } from '../../lab/measure/signals/score-words.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { countOf } from '../support/counts.ts';

const messagesOf = (half: string): readonly LabelledMessage[] =>
  readFileSync(path.resolve(import.meta.dirname, `../../lab/measure/signals/words-${half}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LabelledMessage);
const rate = ({ hits, of }: Share): number => hits / of;

describe('the labelled messages of people', () => {
  it('are at least 400, in fourteen languages', () => {
    const all = ['dev', 'test'].flatMap(messagesOf);
    expect(all.length).toBeGreaterThanOrEqual(400);
    expect(new Set(all.map(({ lang }) => lang)).size).toBeGreaterThanOrEqual(14);
  });

  it.each(['test', 'dev'].slice(0, countOf(1, 2)))(
    'of the %s half: corrections ≥ 0.95 right and ≥ 0.9 found, standing ones ≥ 0.95 right, quotes ≥ 0.95 as wanted',
    (half) => {
      const scores = scoreWords(messagesOf(half), appraise);
      expect(rate(scores.correctionPrecision)).toBeGreaterThanOrEqual(0.95);
      expect(rate(scores.correctionRecall)).toBeGreaterThanOrEqual(0.9);
      expect(rate(scores.standingPrecision)).toBeGreaterThanOrEqual(0.95);
      expect(rate(scores.standingRecall)).toBeGreaterThanOrEqual(0.9);
      expect(rate(scores.thanksPrecision)).toBeGreaterThanOrEqual(0.9);
      expect(rate(scores.quotes)).toBeGreaterThanOrEqual(0.95);
      expect(rate(scores.quiet)).toBeGreaterThanOrEqual(0.95);
      expect(scores.outagesTaught.hits).toBe(0);
      expect(scores.inventedQuotes).toBe(0);
    },
  );
});
