import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LessonText } from '../../../src/core/lesson.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { text } from './samples.ts';

const { note, evidence } = text();
const hostile = (value: unknown): LessonText => value as LessonText;

describe('checkText', () => {
  it('accepts a lesson with every field at its limit', () => {
    const many = Array.from({ length: 32 }, (_, n) => `${n}`.padEnd(64, 'x'));
    const most = text({
      name: `a${'-9'.repeat(31)}`,
      description: 'd'.repeat(500),
      content: 'é'.repeat(4096),
      category: 'common_mistakes',
      scope: { agent: 'a'.repeat(200), project: '*', runKind: 'cron', domain: 'web-*' },
      note: {
        ...note,
        context: 'c'.repeat(500),
        keywords: many,
        tags: many,
        links: many,
        importance: 0,
        confidence: 1,
      },
      evidence: {
        ...evidence,
        turns: Array.from({ length: 64 }, (_, n) => `t${n}`),
        quotes: Array.from({ length: 64 }, () => ({ turn: 't', block: 'b', start: 0, length: 1 })),
        model: 'm',
        prompt: 'p',
      },
      taint: ['tool', 'web'],
    });
    expect(checkLessonText(most)).toBeUndefined();
  });

  it.each([
    ['a name that begins with a digit', text({ name: '1a' }), /^the name must be/],
    ['a name of one letter', text({ name: 'a' }), /^the name/],
    ['a name of 64 letters', text({ name: 'a'.repeat(64) }), /^the name/],
    ['a name with a line break at its end', text({ name: 'abc\n' }), /^the name/],
    ['an empty description', text({ description: ' ' }), /description must not be empty/],
    ['a description of 501', text({ description: 'd'.repeat(501) }), /shorten it to 500/],
    ['a description of two lines', text({ description: 'a\nb' }), /one line: remove the line breaks/],
    ['no content', text({ content: '' }), /content must not be empty/],
    [
      'content over 8 KB in bytes, not in characters',
      text({ content: 'é'.repeat(4097) }),
      /8194 bytes: shorten/,
    ],
    ['a category of two words', text({ category: 'two words' }), /category must be one word/],
    ['an empty pattern', text({ scope: { agent: '' } }), /scope.agent must not be empty; leave it out/],
    ['a pattern of 201', text({ scope: { domain: 'x'.repeat(201) } }), /scope.domain has 201/],
    [
      'importance above 1',
      text({ note: { ...note, importance: 1.01 } }),
      /note.importance must be a number from 0 to 1/,
    ],
    ['no confidence', text({ note: { ...note, confidence: Number.NaN } }), /note.confidence/],
    ['a half-life of 0', text({ note: { ...note, halfLifeDays: 0 } }), /halfLifeDays/],
    [
      'an endless half-life',
      text({ note: { ...note, halfLifeDays: Number.POSITIVE_INFINITY } }),
      /halfLifeDays/,
    ],
    [
      '33 keywords',
      text({ note: { ...note, keywords: Array(33).fill('k') } }),
      /keywords has 33 members: keep at most 32/,
    ],
    ['a tag of 65', text({ note: { ...note, tags: ['t'.repeat(65)] } }), /note.tags\[0\] has 65/],
    ['a link that is empty', text({ note: { ...note, links: [''] } }), /note.links\[0\] must not be empty/],
    [
      'a relation of no type',
      { ...text(), note: { ...note, relations: [{ type: 'likes', to: 'a' }] } },
      /note.relations\[0\].type must be/,
    ],
    [
      'a relation to nothing',
      { ...text(), note: { ...note, relations: [{ type: 'revises' }] } },
      /relations\[0\].to/,
    ],
    ['65 turns', text({ evidence: { ...evidence, turns: Array(65).fill('t') } }), /evidence.turns has 65/],
    [
      'a quote of nothing',
      text({ evidence: { ...evidence, quotes: [{ turn: 't', block: 'b', start: 0, length: 0 }] } }),
      /quotes\[0\].length/,
    ],
    [
      'a quote from before the start',
      text({ evidence: { ...evidence, quotes: [{ turn: 't', block: 'b', start: -1, length: 2 }] } }),
      /quotes\[0\].start/,
    ],
    [
      'a taint that is none',
      text({ taint: hostile(['disk']) as unknown as [] }),
      /taint\[0\] must be one of tool, web/,
    ],
  ])('refuses %s and says how to fix it', (_, wrong, why) => {
    expect(checkLessonText(wrong)).toMatch(why);
  });

  it.each([
    ['a NUL', '\u0000', 'U+0000'],
    ['a carriage return', '\r', 'U+000D'],
    ['an escape', '\u001b', 'U+001B'],
    ['a C1 control', '\u0085', 'U+0085'],
    ['half a character', '\ud800', 'U+D800'],
    ['a bidi override', '\u202e', 'U+202E'],
    ['a bidi isolate', '\u2066', 'U+2066'],
    ['an Arabic letter mark', '\u061c', 'U+061C'],
    ['a zero-width space', '\u200b', 'U+200B'],
    ['a word joiner', '\u2060', 'U+2060'],
    ['a byte order mark', '\ufeff', 'U+FEFF'],
    ['a line separator', '\u2028', 'U+2028'],
    ['a tag letter, in which text can be smuggled', '\u{e0041}', 'U+E0041'],
    ['a variation selector that nothing varies', '\ufe0f', 'U+FE0F'],
    ['a rare variation selector, in which bytes can be smuggled', '\u{e0100}', 'U+E0100'],
    ['a joiner between letters', '\u200d', 'U+200D'],
    ['a Hangul filler', '\u3164', 'U+3164'],
  ])('refuses %s in every field and names it', (_, hidden, name) => {
    const around = `a${hidden}b`;
    const places = [
      text({ description: around }),
      text({ content: around }),
      text({ scope: { agent: around } }),
      text({ note: { ...note, keywords: [around] } }),
      text({ note: { ...note, context: around } }),
      text({ evidence: { ...evidence, learner: around } }),
    ];
    for (const place of places)
      expect(checkLessonText(place)).toContain(`contains ${name}, which is invisible to a reader`);
  });

  it('accepts texts in all scripts and emoji of several code points', () => {
    const content = 'Größe\n\t日本語 हिन्दी עברית العربية 👩‍💻 👍🏽 ❤️ 1️⃣ 🏳️‍🌈 🇩🇪';
    expect(checkLessonText(text({ content }))).toBeUndefined();
  });

  it("gives a reason for any value that is not a lesson's text, and never throws", () => {
    const anything = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withSparseArray: true }),
      fc.jsonValue(),
    );
    const fields = ['name', 'description', 'content', 'category', 'scope', 'note', 'evidence', 'taint'];
    fc.assert(
      fc.property(fc.constantFrom(...fields), anything, (field, value) => {
        const why = checkLessonText(hostile({ ...text(), [field]: value }));
        expect(['string', 'undefined']).toContain(typeof why);
      }),
    );
    fc.assert(
      fc.property(anything, (value) => {
        expect(checkLessonText(hostile(value))).toBeTypeOf('string');
      }),
    );
    expect(checkLessonText(hostile(JSON.parse('{"__proto__":{"name":"abc"}}')))).toMatch(/^the name/);
  });
});
