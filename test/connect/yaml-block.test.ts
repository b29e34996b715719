import { describe, expect, it } from 'vitest';
import { addYamlBlock, removeYamlBlock, type YamlBlock } from '../../src/connect/yaml-block.ts';

const ENTRY: YamlBlock = {
  top: {},
  entry: { list: 'models', settings: { name: '"Instar"', provider: 'openai' } },
};
const TOP: YamlBlock = { top: { model: '"openai/default"', 'show-model-warnings': 'false' } };

function add(text: string, block: YamlBlock): string {
  const added = addYamlBlock(text, block);
  if (!added.ok) throw new Error(added.why);
  return added.text;
}

describe('a YAML block', () => {
  it('is the first entry of a list, indented like the others', () => {
    const text =
      'name: Mine\nmodels: # all of them\n  # the good one\n  - name: Own\n    provider: x\nrules:\n- Be brief\n';
    expect(add(text, ENTRY).split('\n')).toEqual([
      'name: Mine',
      'models: # all of them',
      expect.stringMatching(/^ {2}# >>> instar/),
      '  - name: "Instar"',
      '    provider: openai',
      '  # <<< instar',
      '  # the good one',
      '  - name: Own',
      '    provider: x',
      'rules:',
      '- Be brief',
      '',
    ]);
  });

  it.each([
    'name: Mine\nmodels:\n- name: Own\n  provider: x\n',
    '# mine\nmodel: opus\nread: [a, b]\n\nlist:\n  - x\n',
    '---\nmodel: "opus" # quoted\ntext: |\n  model: no\n',
    'other: 1\n',
    '',
  ])('is removed to the last byte from %j', (text) => {
    for (const block of [TOP, ENTRY, { ...TOP, ...ENTRY, top: TOP.top }])
      expect(removeYamlBlock(add(text, block))).toBe(text);
  });

  it('keeps the owner’s line with the same key as a comment, and what the owner has set since', () => {
    const added = add('model: opus\nread: [a]\n', TOP);
    expect(added).toContain('# instar keeps: model: opus\nread: [a]');
    expect(removeYamlBlock(`${added}model: sonnet\n`)).toBe('read: [a]\nmodel: sonnet\n');
  });

  it('leaves the list that was made for it when the owner has added to it', () => {
    const added = add('name: Mine\n', ENTRY);
    expect(removeYamlBlock(`${added}  - name: Own\n`)).toBe('name: Mine\nmodels:\n  - name: Own\n');
  });

  it.each([
    ['models: [a, b]\n', /not a list with one entry on each line/],
    ['models:\n  own: 1\n', /not a list/],
    ['{ name: Mine }\n', /not written as one plain mapping/],
    ['a: 1\n---\nb: 2\n', /plain mapping/],
    ['- a\n', /plain mapping/],
    ['\ufeffa: 1\n', /byte-order mark/],
    ['a: 1\r\n', /carriage return/],
  ])('refuses %j, with the reason', (text, why) => {
    const added = addYamlBlock(text, ENTRY);
    expect(added.ok ? '' : added.why).toMatch(why);
  });

  it('keeps a setting of several lines as comments, with the lines of its value, and brings all of them back', () => {
    const text = 'auto: true\nmodel:\n  name: opus # mine\n\n  # why\n  list:\n    - a\nlast: 1\n';
    const added = add(text, TOP);
    expect(added).toContain('# instar keeps:   name: opus # mine\n');
    expect(removeYamlBlock(added)).toBe(text);
    // The owner has set it again meanwhile: then the old value is gone, with all of its lines.
    expect(removeYamlBlock(`${added}model: other\n`)).toBe('auto: true\nlast: 1\nmodel: other\n');
  });
});
