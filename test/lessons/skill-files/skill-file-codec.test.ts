import { describe, expect, it } from 'vitest';
import { toSkillName } from '../../../src/lessons/skill-files/skill-file.ts';
import { decodeSkillFile } from '../../../src/lessons/skill-files/skill-file-codec.ts';

const file = (...lines: string[]): string => ['---', ...lines, '---', '', 'Do it.', ''].join('\n');
const withDescription = (...lines: string[]): unknown => {
  const skill = decodeSkillFile(file('name: a-skill', ...lines));
  return 'ok' in skill ? skill : skill.description;
};

describe('a SKILL.md', () => {
  it('can be a file of MetaClaw, with its category', () => {
    const text = file('name: debug-first', 'description: Use when a test fails.', 'category: coding');
    expect(decodeSkillFile(text)).toEqual({
      name: 'debug-first',
      description: 'Use when a test fails.',
      content: 'Do it.',
      category: 'coding',
      extra: [],
    });
  });

  it('keeps the other fields of Claude and OpenClaw verbatim, a nested map and one line of JSON', () => {
    const skill = decodeSkillFile(
      file(
        'name: pdf',
        'description: For PDFs.',
        'license: Apache-2.0',
        'allowed-tools: Bash(jq:*) Read',
        'requires:',
        '  bins: [jq]',
        '  # a remark inside',
        '',
        'metadata: {"openclaw":{"emoji":"🦞"}}',
      ),
    );
    expect(skill).toMatchObject({
      extra: [
        { key: 'license', raw: ' Apache-2.0' },
        { key: 'allowed-tools', raw: ' Bash(jq:*) Read' },
        { key: 'requires', raw: '\n  bins: [jq]\n  # a remark inside\n' },
        { key: 'metadata', raw: ' {"openclaw":{"emoji":"🦞"}}' },
      ],
    });
  });

  it.each<[string, string[], string]>([
    ['plain, with a colon that YAML would refuse', ['description: Use when: it rains'], 'Use when: it rains'],
    ['plain, without its comment', ['description: Fixes it # really'], 'Fixes it'],
    ['plain, with a # inside a word', ['description: For C# and issue#3'], 'For C# and issue#3'],
    ['plain, over lines', ['description: one', '  two', '', '  three'], 'one two\nthree'],
    ['plain, from the next line', ['description:', '  one', '  two'], 'one two'],
    ['in double quotes', ['description: "a \\"b\\" \\u00e9 \\x41 \\U0001F600\\n"'], 'a "b" é A 😀\n'],
    ['in double quotes over lines', ['description: "a', '  b \\', '  c', '', '  d"  # remark'], 'a b c\nd'],
    ['with a Windows path in quotes', ['description: "C:\\Users\\me"'], 'C:\\Users\\me'],
    ['in single quotes', ["description: 'it''s \\n'"], "it's \\n"],
    [
      'folded',
      ['description: >', '  one', '  two', '', '  three', '    kept', '  four'],
      'one two\nthree\n  kept\nfour\n',
    ],
    ['folded and stripped', ['description: >-', '  one', '  two', ''], 'one two'],
    ['literal', ['description: |', '  one', '   two', ''], 'one\n two\n'],
    ['literal and kept', ['description: |+', '  one', '', ''], 'one\n\n\n'],
    ['literal with its indentation said', ['description: |1-', '  one', ' two'], ' one\ntwo'],
    ['folded, with a remark behind the sign', ['description: >- # remark', '  one'], 'one'],
    ['text that only looks folded', ['description: >50% of cases'], '>50% of cases'],
    [
      'what YAML would evaluate, as text',
      ['description: !!python/object:os.system *x &y'],
      '!!python/object:os.system *x &y',
    ],
    ['a number', ['description: 007'], '007'],
  ])('has a description %s', (_, lines, expected) => {
    expect(withDescription(...lines)).toBe(expected);
  });

  it.each<[string, string[], readonly string[]]>([
    ['[a, "b, c", \'d\']', ['tags: [a, "b, c", \'d\'] # remark'], ['a', 'b, c', 'd']],
    ['items below', ['keywords:', '  - a', '  - "b: c"', '  -', '- d'], ['a', 'b: c', 'd']],
    ['a, b', ['keywords: a, b,'], ['a', 'b']],
    ['brackets over lines', ['keywords: [', '  a,', '  b', ']'], ['a', 'b']],
    ['keywords rather than tags', ['tags: [t]', 'keywords: [k]'], ['k']],
    ['none', ['keywords: []'], []],
  ])('has keywords from %s', (_, lines, expected) => {
    expect(decodeSkillFile(file('name: aa', 'description: d', ...lines))).toMatchObject({
      keywords: expected,
    });
  });

  it('is the same with CRLF and a byte order mark', () => {
    const text = file('name: aa', 'description: >-', '  one', '  two').replace('Do it.', 'Do\nit.');
    expect(decodeSkillFile(`\ufeff${text.replaceAll('\n', '\r\n')}`)).toEqual(decodeSkillFile(text));
  });

  it('may have triggers and be for every task, in any of the usual ways to write it', () => {
    const written = (fields: string) =>
      decodeSkillFile(`---\nname: a-skill\ndescription: d\n${fields}\n---\n\nDo it.\n`);
    const expected = { triggers: ['tests hang', 'CI is red'], isAlways: true, extra: [] };
    expect(written('triggers: [tests hang, CI is red]\nalways: true')).toMatchObject(expected);
    expect(written('triggers:\n  - tests hang\n  - "CI is red"\nalways: yes')).toMatchObject(expected);
    expect(
      written('metadata:\n  instar-triggers: "[\\"tests hang\\",\\"CI is red\\"]"\n  instar-always: "true"'),
    ).toMatchObject(expected);
    expect(written('always: false')).toMatchObject({ isAlways: false });
    expect(written('license: MIT')).not.toHaveProperty('isAlways');
  });

  it('may have --- in its text', () => {
    const text = '---\nname: aa\ndescription: d\n---\nOne\n\n---\nname: bb\n---\nTwo';
    expect(decodeSkillFile(text)).toMatchObject({ name: 'aa', content: 'One\n\n---\nname: bb\n---\nTwo' });
  });

  it.each<[string, string, string]>([
    ['no front matter', '# Title\n', 'first line is not ---'],
    ['a front matter that does not end', '---\nname: aa\n', 'no second ---'],
    ['no description', file('name: aa'), 'has no description'],
    ['an empty description', file('name: aa', 'description: ""'), 'has no description'],
    ['no name', file('description: d'), 'has no name'],
    ['a field twice', file('name: aa', 'description: d', 'name: bb'), 'line 4 repeats the field name'],
    ['a line that is no field', file('name: aa', 'whatever'), 'line 3 is not "key: value"'],
    [
      'a quote that does not close',
      file('name: aa', 'description: "d'),
      'description has a quote that is not closed',
    ],
    [
      'text behind a quote',
      file('name: aa', 'description: "d" e'),
      'description has text after its closing quote',
    ],
    ['no text', '---\nname: aa\ndescription: d\n---\n\n', 'has no text'],
    [
      'a path for a name',
      file('name: ../../etc/passwd', 'description: d'),
      'has the name "../../etc/passwd"',
    ],
  ])('is refused with a reason for %s', (_, text, why) => {
    expect(decodeSkillFile(text)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });

  it('is refused above 262144 bytes for the file or 8192 for its text', () => {
    const head = '---\nname: aa\ndescription: d\n---\n\n';
    expect(decodeSkillFile(`${head}${'é'.repeat(4096)}\n`)).toMatchObject({ name: 'aa' });
    expect(decodeSkillFile(`${head}${'é'.repeat(4097)}\n`)).toEqual({
      ok: false,
      why: 'has a text of 8194 bytes; a lesson may have at most 8192',
    });
    expect(decodeSkillFile(head + 'é'.repeat(131_072))).toEqual({
      ok: false,
      why: 'is larger than 262144 bytes, the limit for a skill file',
    });
  });
});

describe('the name of a skill', () => {
  it.each([
    ['pdf-tools', 'pdf-tools'],
    [' PDF Processing ', 'pdf-processing'],
    ['Data_Analysis v1.2', 'data-analysis-v1-2'],
    ['1password', 'skill-1password'],
    ['Wait.', 'wait'],
    ['a--b', 'a--b'],
  ])('%j is %s', (said, name) => {
    expect(toSkillName(said)).toBe(name);
  });

  it.each([
    '',
    'a',
    'C++ Tips',
    'C# Tips',
    '../x',
    '/etc/x',
    'a/b',
    'a\\b',
    '.hidden',
    '-x',
    'x\u0000y',
    '深潜',
    'x'.repeat(64),
  ])('%j has no valid form, since characters would be lost', (said) => {
    expect(toSkillName(said)).toBeUndefined();
  });

  it('is the name of the folder when the file has no valid one', () => {
    const text = '---\nname: 深潜\ndescription: d\n---\nx';
    expect(decodeSkillFile(text, 'Deep Dive')).toMatchObject({ name: 'deep-dive' });
    expect(decodeSkillFile(text, '../..')).toHaveProperty('why');
  });
});
