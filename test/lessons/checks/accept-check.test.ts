import { describe, expect, it } from 'vitest';
import { acceptCheck, type CheckDraft } from '../../../src/lessons/checks/accept-check.ts';
import { work } from './make-check.ts';

const hasSecret = (): boolean => false;
const draft: CheckDraft = {
  check: {
    looksAt: 'reply',
    appliesWhen: [{ is: 'pattern', pattern: 'colou?r' }],
    holdsWhen: [{ is: 'pattern', pattern: 'color', max: 0 }],
    by: 'words',
  },
};
const examples = { keeping: work({ reply: 'the colour' }), breaking: work({ reply: 'the color' }) };
const broken = work({ reply: 'A red color.' });
const kept = work({ reply: 'A red colour.' });
const other = work({ reply: 'A red house.' });
const whyOf = (result: ReturnType<typeof acceptCheck>): string => (result.ok ? 'ok' : result.why);

describe('accepting a check', () => {
  it('accepts what fails on the corrected answer and passes on the revised one', () => {
    const result = acceptCheck(draft, { corrected: broken, revised: kept, outside: [other], hasSecret });
    expect(result).toMatchObject({
      ok: true,
      check: {
        standing: 'accepted',
        proof: 'fails on the corrected answer, passes on the revised one, applies to 0 of 1 other answer',
      },
    });
  });

  it('refuses what passes on the corrected answer, or fails on the revised one', () => {
    expect(whyOf(acceptCheck(draft, { corrected: kept, outside: [], hasSecret }))).toMatch(
      /corrected answer/,
    );
    expect(whyOf(acceptCheck(draft, { corrected: other, outside: [], hasSecret }))).toMatch(
      /corrected answer/,
    );
    const both = { corrected: broken, outside: [], hasSecret };
    expect(whyOf(acceptCheck(draft, { ...both, revised: broken }))).toMatch(/revised answer kept/);
    expect(whyOf(acceptCheck(draft, { ...both, revised: other }))).toMatch(/revised answer kept/);
  });

  it('refuses a list of phrases by which a model guesses at a fault', () => {
    const words = Array.from({ length: 30 }, (_, index) => `jargon${index + 1}`).map(
      (word) => `\\b${word}\\b`,
    );
    const listed: CheckDraft = {
      check: {
        looksAt: 'reply',
        appliesWhen: [],
        holdsWhen: [{ is: 'pattern', pattern: ['color', ...words].join('|'), max: 0 }],
        by: 'model',
      },
    };
    const both = { corrected: broken, revised: kept, outside: [], hasSecret };
    expect(whyOf(acceptCheck(listed, both))).toMatch(/lists phrases/);
    expect(acceptCheck({ check: { ...draft.check, by: 'model' } }, both)).toMatchObject({ ok: true });
  });

  it('refuses what applies to more than 2 % of the answers outside the scope, and counts the last 200 only', () => {
    const outside = (met: number): ReturnType<typeof work>[] =>
      Array.from({ length: 200 }, (_, index) => (index < met ? kept : other));
    const on = { corrected: broken, revised: kept, hasSecret };
    expect(whyOf(acceptCheck(draft, { ...on, outside: outside(4) }))).toBe('ok');
    expect(whyOf(acceptCheck(draft, { ...on, outside: outside(5) }))).toMatch(
      /applies to 5 of 200 other answers/,
    );
    const old = Array.from({ length: 50 }, () => kept);
    expect(whyOf(acceptCheck(draft, { ...on, outside: [...old, ...outside(4)] }))).toBe('ok');
  });

  it('without a corrected answer makes a provisional check, and only from examples of the rule itself', () => {
    const result = acceptCheck({ ...draft, examples }, { outside: [], hasSecret });
    expect(result).toMatchObject({ ok: true, check: { standing: 'provisional' } });
    expect(whyOf(acceptCheck(draft, { outside: [], hasSecret }))).toMatch(/names no literal/);
    const swapped = { keeping: examples.breaking, breaking: examples.keeping };
    expect(whyOf(acceptCheck({ ...draft, examples: swapped }, { outside: [], hasSecret }))).toMatch(
      /made from/,
    );
    expect(whyOf(acceptCheck({ ...draft, examples }, { revised: broken, outside: [], hasSecret }))).toMatch(
      /broken/,
    );
  });

  it('tests nothing that cannot be read', () => {
    const check = { ...draft.check, holdsWhen: [{ is: 'pattern' as const, pattern: '(' }] };
    expect(whyOf(acceptCheck({ check }, { corrected: broken, outside: [], hasSecret }))).toMatch(
      /cannot be used/,
    );
  });
});
