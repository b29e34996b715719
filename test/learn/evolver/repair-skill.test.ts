import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { readPages } from '../../../src/learn/evolver/read-page.ts';
import { repairSkill } from '../../../src/learn/evolver/repair-skill.ts';
import { goodSkill } from './samples.ts';

const shape = (value: Json) => {
  const read = repairSkill(value);
  if (!read.ok || !('shape' in read)) throw new Error(JSON.stringify(read));
  return read.shape;
};

describe('the form of a skill', () => {
  it('is left alone when it is right', () => {
    expect(shape({ ...goodSkill, content: goodSkill.content.replaceAll('\n', '\r\n') })).toMatchObject({
      name: goodSkill.name,
      description: goodSkill.description,
      content: goodSkill.content,
      category: goodSkill.category,
    });
  });

  it.each([
    ['a title for a name', { title: 'Use pnpm, not npm!' }, 'use-pnpm-not-npm'],
    ['a path for a name', { name: '../../etc/passwd' }, 'etc-passwd'],
    ['a file for a name', { name: 'use-pnpm.md' }, 'use-pnpm'],
    ['camel case', { name: 'UsePnpmHere' }, 'use-pnpm-here'],
    ['accents', { name: 'Größen prüfen' }, 'grossen-prufen'],
    ['a digit first', { name: '2 spaces' }, 'skill-2-spaces'],
    ['a name of a hundred letters', { name: 'a'.repeat(100) }, 'a'.repeat(63)],
    ['a name with a zero in it', { name: 'a\0bc' }, 'abc'],
    ['__proto__ for a name', { name: '__proto__' }, 'proto'],
    ['a number for a name', { name: 7 }, 'amounts-in-cents'],
    ['no name', {}, 'amounts-in-cents'],
  ])('is repaired: %s', (_, over, name) => {
    const { name: __, ...rest } = goodSkill;
    expect(shape({ ...rest, ...over }).name).toBe(name);
  });

  it('has a name also when nothing of it can be written in Latin letters, and always the same', () => {
    const said = {
      name: '使用 пнпм',
      description: '在这个项目里总是使用包管理器。',
      content: '1. 使用锁文件。\n2. 不要使用别的工具，永远不要。',
    };
    expect(shape(said).name).toMatch(/^lesson-[0-9a-f]{8}$/);
    expect(shape(said).name).toBe(shape(said).name);
  });

  it('has the first sentence of the text for a description that is missing', () => {
    const { description: _, ...rest } = goodSkill;
    expect(shape(rest).description).toBe('Multiply each amount by 100 and round it.');
    expect(
      shape({ name: 'x', content: '# Title\n\nSteps:\n- **Run** the tests first. Then commit.' }).description,
    ).toBe('Run the tests first.');
  });

  it('keeps a description without "when", with two sentences or two lines, in one line', () => {
    expect(shape({ ...goodSkill, description: 'Money formats are important. Use\ncents.' }).description).toBe(
      'Money formats are important. Use cents.',
    );
    expect(
      shape({ ...goodSkill, description: `Use cents. ${'And more words. '.repeat(60)}` }).description.length,
    ).toBeLessThanOrEqual(300);
  });

  it.each([
    [
      'instructions',
      { instructions: 'Run the tests before the commit.' },
      'Run the tests before the commit.',
    ],
    ['a body', { body: 'Run the tests before the commit.' }, 'Run the tests before the commit.'],
    ['steps as a list', { steps: ['Run the tests.', 'Then commit.'] }, '1. Run the tests.\n2. Then commit.'],
    [
      'steps with numbers',
      { steps: ['1. Run the tests.', '2. Then commit.'] },
      '1. Run the tests.\n2. Then commit.',
    ],
    [
      'steps as objects',
      {
        steps: [
          { step: 1, action: 'Run the tests.' },
          { step: 2, action: 'Then commit.' },
        ],
      },
      '1. Run the tests.\n2. Then commit.',
    ],
    [
      'content as lines',
      { content: ['# Tests', '- Run the tests.', '- Then commit.'] },
      '# Tests\n- Run the tests.\n- Then commit.',
    ],
    [
      'content as an object',
      {
        content: {
          steps: ['Run the tests.', 'Then commit.'],
          example: 'npm test',
          anti_pattern: 'Commit first.',
        },
      },
      '1. Run the tests.\n2. Then commit.\nExample: npm test\nAnti pattern: Commit first.',
    ],
    [
      'example and anti-pattern apart',
      { content: 'Run the tests before the commit.', example: '`npm test`', 'Anti-Pattern': 'Commit first.' },
      'Run the tests before the commit.\nExample: `npm test`\nAnti-pattern: Commit first.',
    ],
    [
      'line breaks that were escaped twice',
      { content: '# Tests\\n1. Run the tests.\\n2. Then commit.' },
      '# Tests\n1. Run the tests.\n2. Then commit.',
    ],
    ['only a rule', { rule: 'Run the tests before every commit.' }, 'Run the tests before every commit.'],
  ] as readonly (readonly [string, Json, string])[])('is repaired: %s', (_, over, content) => {
    expect(shape({ name: 'tests-first', ...(over as object) }).content).toBe(content);
  });

  it('needs no example, no anti-pattern, no heading and no second step', () => {
    expect(
      shape({
        name: 'tests-first',
        description: 'Run the tests first.',
        content: 'Run `npm test` before a commit.',
      }),
    ).toMatchObject({
      content: 'Run `npm test` before a commit.',
    });
  });

  it('is cut behind a sentence when it is too long, and closes its code', () => {
    const long = shape({
      ...goodSkill,
      content: `${goodSkill.content}\n${'Never do this. '.repeat(2000)}`,
    }).content;
    expect(long.length).toBeLessThanOrEqual(6000);
    expect(long).toMatch(/\.$/);
    const lines = shape({
      ...goodSkill,
      content: `Do it so:\n\`\`\`sh\n${'run it again\n'.repeat(100)}`,
    }).content;
    expect(lines.split('\n').length).toBeLessThan(50);
    expect(lines.endsWith('```')).toBe(true);
    const wide = shape({ ...goodSkill, content: `Schreib Beträge so: ${'界'.repeat(5000)}` }).content;
    expect(Buffer.byteLength(wide)).toBeLessThan(8192);
  });

  it('has no invisible characters, escapes or halves of characters', () => {
    const { content, description } = shape({
      ...goodSkill,
      description: 'Write amounts \u202ein cents\u200b.',
      content: `${goodSkill.content}\u200b\ud800\u001b[2J`,
    });
    expect(description).toBe('Write amounts in cents.');
    expect(content).toBe(goodSkill.content);
  });

  it('has triggers out of a list, of lines or of a sentence with commas', () => {
    const triggers = ['install a package', 'lockfile changed'];
    for (const said of [
      triggers,
      '- install a package\n- "lockfile changed"',
      'install a package, lockfile changed',
    ])
      expect(shape({ ...goodSkill, triggers: said }).triggers).toEqual(triggers);
    expect(
      shape({ ...goodSkill, triggers: Array.from({ length: 40 }, (_, n) => `task ${n}`) }).triggers,
    ).toHaveLength(8);
  });

  it('is for every task only when it says so', () => {
    expect(shape({ ...goodSkill, always: true }).isAlways).toBe(true);
    expect(shape({ ...goodSkill, always: 'when money is involved' }).isAlways).toBe(false);
    expect(shape(goodSkill).isAlways).toBe(false);
  });

  it('reads quotes of any shape, and drops what is none', () => {
    expect(
      shape({
        ...goodSkill,
        quotes: [1, null, { turn: 't' }, { turn: 'turn t', text: 'x' }, 'y', { turn_id: 'u', quote: 'z' }],
      }).quotes,
    ).toEqual([{ turn: 't', text: 'x' }, { text: 'y' }, { turn: 'u', text: 'z' }]);
    expect(shape({ ...goodSkill, quotes: 'none said', revises: null })).toMatchObject({ revises: [] });
  });

  it('ignores a field that would change a prototype', () => {
    const value = JSON.parse(`{"__proto__": {"x": 1}, ${JSON.stringify(goodSkill).slice(1)}`) as Json;
    expect(shape(value)).not.toHaveProperty('x');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('asks for a retirement with a reason and a successor', () => {
    expect(repairSkill({ action: 'retire', name: 'old-one', reason: 'It is wrong.', by: 'new-one' })).toEqual(
      {
        ok: true,
        retired: { retires: 'old-one', reason: 'It is wrong.', by: 'new-one' },
      },
    );
  });
});

describe('the meaning of a skill', () => {
  it.each([
    ['no object', null],
    ['a list', []],
    ['a name alone', { name: 'use-pnpm' }],
    ['an empty text', { name: 'use-pnpm', content: '  \n ' }],
    ['a refusal', { name: 'sorry', content: "I'm sorry, but I can't help with that." }],
    [
      'an echo of the question',
      { name: 'x-y', content: 'Markdown: a heading, numbered steps, a line "Example: …"' },
    ],
    ['a placeholder', { name: 'x-y', content: '<content>' }],
    ['numbers for words', { name: 7, content: 8 }],
  ] as readonly (readonly [string, Json])[])('is missing in %s, which is refused', (_, value) =>
    expect(repairSkill(value)).toEqual({ ok: false, why: expect.any(String) }),
  );
});

describe('a page instead of JSON', () => {
  const page = '# Use pnpm\n\n1. Run `pnpm install`.\n2. Commit the lockfile.\n';

  it.each([
    ['a SKILL.md', `---\nname: use-pnpm\ndescription: Use pnpm here, not npm.\n---\n\n${page}`],
    [
      'a SKILL.md in a fence',
      `Here is the skill:\n\n\`\`\`markdown\n---\nname: use-pnpm\ndescription: "Use pnpm here, not npm."\n---\n${page}\`\`\`\n`,
    ],
    ['a heading with steps', `Here is what I found.\n\n${page}`],
    [
      'YAML',
      '- name: use-pnpm\n  description: Use pnpm here, not npm.\n  content: |\n    # Use pnpm\n\n    1. Run `pnpm install`.\n    2. Commit the lockfile.\n',
    ],
    [
      'labels',
      '**Name:** use-pnpm\n**Description:** Use pnpm here, not npm.\n**Content:**\n# Use pnpm\n\n1. Run `pnpm install`.\n2. Commit the lockfile.\n',
    ],
  ])('is a skill: %s', (_, reply) => {
    const [first, ...others] = readPages(reply).map(shape);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ name: 'use-pnpm', content: page.trim() });
  });

  it('holds several skills, each with its own front matter', () => {
    const pages = `---\nname: one-skill\ndescription: Do one.\n---\n${page}\n---\nname: other-skill\ndescription: Do two.\n---\n${page}`;
    expect(readPages(pages).map((one) => shape(one).name)).toEqual(['one-skill', 'other-skill']);
  });

  it.each([
    ['prose', 'I think the assistant should be more careful with package managers.'],
    ['a refusal', 'I am sorry, but I cannot do that.'],
    ['a heading alone', '# Analysis\n\nThe user wanted pnpm.'],
    ['nothing', ''],
  ])('is none: %s', (_, reply) => expect(readPages(reply)).toEqual([]));
});
