import { describe, expect, it } from 'vitest';
import type { CheckedWork } from '../../../src/core/check.ts';
import { acceptCheck, type CheckDraft } from '../../../src/lessons/checks/accept-check.ts';
import { work } from './make-check.ts';

const none = async (): Promise<readonly CheckedWork[]> => [];

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
const whyOf = async (asked: ReturnType<typeof acceptCheck>): Promise<string> => {
  const result = await asked;
  return result.ok ? 'ok' : result.why;
};

describe('accepting a check', () => {
  it('accepts what fails on the corrected answer and passes on the revised one', async () => {
    const result = await acceptCheck(draft, {
      corrected: broken,
      revised: kept,
      outside: async () => [other],
      hasSecret,
    });
    expect(result).toMatchObject({
      ok: true,
      check: {
        standing: 'accepted',
        proof: 'fails on the corrected answer, passes on the revised one, applies to 0 of 1 other answer',
      },
    });
  });

  it('refuses what passes on the corrected answer, or fails on the revised one', async () => {
    expect(await whyOf(acceptCheck(draft, { corrected: kept, outside: none, hasSecret }))).toMatch(
      /corrected answer/,
    );
    expect(await whyOf(acceptCheck(draft, { corrected: other, outside: none, hasSecret }))).toMatch(
      /corrected answer/,
    );
    const both = { corrected: broken, outside: none, hasSecret };
    expect(await whyOf(acceptCheck(draft, { ...both, revised: broken }))).toMatch(/revised answer kept/);
    expect(await whyOf(acceptCheck(draft, { ...both, revised: other }))).toMatch(/revised answer kept/);
  });

  it('refuses a list of phrases by which a model guesses at a fault', async () => {
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
    const both = { corrected: broken, revised: kept, outside: none, hasSecret };
    expect(await whyOf(acceptCheck(listed, both))).toMatch(/lists phrases/);
    expect(await acceptCheck({ check: { ...draft.check, by: 'model' } }, both)).toMatchObject({ ok: true });
  });

  it('refuses what applies to more than 2 % of the answers outside the scope, and counts the last 200 only', async () => {
    const outside =
      (met: number, old: readonly ReturnType<typeof work>[] = []) =>
      async (): Promise<readonly ReturnType<typeof work>[]> => [
        ...old,
        ...Array.from({ length: 200 }, (_, index) => (index < met ? kept : other)),
      ];
    const on = { corrected: broken, revised: kept, hasSecret };
    expect(await whyOf(acceptCheck(draft, { ...on, outside: outside(4) }))).toBe('ok');
    expect(await whyOf(acceptCheck(draft, { ...on, outside: outside(5) }))).toMatch(
      /applies to 5 of 200 other answers/,
    );
    const old = Array.from({ length: 50 }, () => kept);
    expect(await whyOf(acceptCheck(draft, { ...on, outside: outside(4, old) }))).toBe('ok');
  });

  it('without a corrected answer makes a provisional check, and only from examples of the rule itself', async () => {
    const result = await acceptCheck({ ...draft, examples }, { outside: none, hasSecret });
    expect(result).toMatchObject({ ok: true, check: { standing: 'provisional' } });
    expect(await whyOf(acceptCheck(draft, { outside: none, hasSecret }))).toMatch(/names no literal/);
    const swapped = { keeping: examples.breaking, breaking: examples.keeping };
    expect(await whyOf(acceptCheck({ ...draft, examples: swapped }, { outside: none, hasSecret }))).toMatch(
      /made from/,
    );
    expect(
      await whyOf(acceptCheck({ ...draft, examples }, { revised: broken, outside: none, hasSecret })),
    ).toMatch(/broken/);
  });

  it('tests nothing that cannot be read', async () => {
    const check = { ...draft.check, holdsWhen: [{ is: 'pattern' as const, pattern: '(' }] };
    expect(await whyOf(acceptCheck({ check }, { corrected: broken, outside: none, hasSecret }))).toMatch(
      /cannot be used/,
    );
  });
});
