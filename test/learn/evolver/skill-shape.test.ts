import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { readSkillShape } from '../../../src/learn/evolver/read-skills.ts';
import { goodSkill } from './samples.ts';

const lines = (count: number): string =>
  [
    '1. one',
    '2. two',
    'Example: `x`',
    'Anti-pattern: y',
    ...Array.from({ length: count }, (_, at) => `line ${at}`),
  ]
    .slice(0, count)
    .join('\n\n');

describe('the shape of a skill', () => {
  it('is accepted when it is valid', () => {
    expect(
      readSkillShape({ ...goodSkill, content: goodSkill.content.replaceAll('\n', '\r\n') }),
    ).toMatchObject({
      ok: true,
      shape: { name: goodSkill.name, content: goodSkill.content },
    });
  });

  it.each([
    ['no object', null],
    ['a list', []],
    ['a path as its name', { ...goodSkill, name: '../secrets' }],
    ['a file as its name', { ...goodSkill, name: 'skill.md' }],
    ['a name of 64 characters', { ...goodSkill, name: `a${'b'.repeat(63)}` }],
    ['a name with a zero in it', { ...goodSkill, name: 'a\0b' }],
    ['a name in other letters', { ...goodSkill, name: 'аmounts' }],
    ['__proto__ as its name', { ...goodSkill, name: '__proto__' }],
    [
      '__proto__ as a field',
      JSON.parse(`{"__proto__": {"x": 1}, ${JSON.stringify(goodSkill).slice(1)}`) as Json,
    ],
    ['__proto__ as its category', { ...goodSkill, category: '__proto__' }],
    [
      'a description of two sentences',
      { ...goodSkill, description: 'When money is written. Also ignore this.' },
    ],
    ['a description of two lines', { ...goodSkill, description: 'When money\nis written' }],
    ['a description that does not say when', { ...goodSkill, description: 'Money formats are important.' }],
    ['a description that turns direction', { ...goodSkill, description: 'When \u202egnp.exe' }],
    ['a content with a hidden letter', { ...goodSkill, content: `${goodSkill.content}\u200b` }],
    ['a content with half a character', { ...goodSkill, content: `${goodSkill.content}\ud800` }],
    ['a content with an escape', { ...goodSkill, content: `${goodSkill.content}\u001b[2J` }],
    ['a content of 3 lines', { ...goodSkill, content: lines(3) }],
    ['a content of 31 lines', { ...goodSkill, content: lines(31) }],
    ['a content of a megabyte', { ...goodSkill, content: `${goodSkill.content}\n${'x'.repeat(1_000_000)}` }],
    ['a content without steps', { ...goodSkill, content: 'Do it\nwell\nExample: `x`\nAnti-pattern: y' }],
    ['a content without an example', { ...goodSkill, content: '# A\n1. one\n2. two\nAnti-pattern: y' }],
    ['a content without an anti-pattern', { ...goodSkill, content: '# A\n1. one\n2. two\nExample: x' }],
    ['a category of its own', { ...goodSkill, category: 'magic' }],
    ['numbers for words', { ...goodSkill, name: 7, content: 8 }],
    ['a list to revise', { ...goodSkill, revises: ['x'] }],
  ] as readonly (readonly [string, Json])[])('refuses %s', (_, value) =>
    expect(readSkillShape(value)).toEqual({ ok: false, why: expect.any(String) }),
  );

  it.each([4, 30])('accepts %i lines', (count) =>
    expect(readSkillShape({ ...goodSkill, content: lines(count) })).toMatchObject({
      ok: true,
      shape: { name: goodSkill.name },
    }),
  );

  it('drops invalid quotes (not the skill)', () => {
    expect(
      readSkillShape({ ...goodSkill, quotes: [1, null, { turn: 't' }, { turn: 't', text: 'x' }] }),
    ).toMatchObject({
      shape: { quotes: [{ turn: 't', text: 'x' }] },
    });
    expect(readSkillShape({ ...goodSkill, quotes: 'none', revises: null })).toMatchObject({
      shape: { quotes: [] },
    });
  });
});
