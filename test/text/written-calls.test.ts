import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../src/core/chat.ts';
import { createWrittenCallReader, type WrittenPart } from '../../src/text/written-calls.ts';

const TOOLS: readonly Tool[] = [
  { name: 'bash', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
  { name: 'write_file', parameters: { type: 'object', properties: {} } },
];
const LS = { name: 'bash', arguments: '{"command": "ls"}' };
const JSON_LS = `{"name": "bash", "arguments": ${LS.arguments}}`;

/** The parts with adjacent texts joined. */
function join(parts: readonly WrittenPart[]): readonly (string | object)[] {
  const joined: (string | object)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if ('call' in part) joined.push(part.call);
    else if (typeof last === 'string') joined[joined.length - 1] = last + part.text;
    else joined.push(part.text);
  }
  return joined;
}
function read(...chunks: readonly string[]): readonly (string | object)[] {
  const reader = createWrittenCallReader(TOOLS);
  return join([...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()]);
}

describe('calls that a model writes as text', () => {
  it.each([
    ['tags', `<tool_call>\n${JSON_LS}\n</tool_call>`, [LS]],
    ['text and tags', `I look.\n<tool_call>\n${JSON_LS}\n</tool_call>`, ['I look.', LS]],
    ['two tags', `<tool_call>${JSON_LS}</tool_call>\n<tool_call>${JSON_LS}</tool_call>`, [LS, LS]],
    ['a tag without its end', `<tool_call>${JSON_LS}`, [LS]],
    ['a fence', `\`\`\`json\n${JSON_LS}\n\`\`\``, [LS]],
    ['a fence between sentences', `First:\n\n\`\`\`\n${JSON_LS}\n\`\`\`\nThen.`, ['First:', LS, 'Then.']],
    ['a fence with two objects', `\`\`\`json\n${JSON_LS}\n${JSON_LS}\n\`\`\``, [LS, LS]],
    ['a fence with tags', `\`\`\`xml\n<tool_call>${JSON_LS}</tool_call>\n\`\`\``, [LS]],
    ['a fence without its end', `\`\`\`json\n${JSON_LS}`, [LS]],
    ['a bare object', JSON_LS, [LS]],
    ['a bare object after a sentence', `Let me see.\n\n${JSON_LS}`, ['Let me see.', LS]],
    ['a list', `[${JSON_LS}]`, [{ ...LS, arguments: '{"command":"ls"}' }]],
    ['the form of an API', `{"type": "function", "function": ${JSON_LS}}`, [LS]],
    ['other names of the fields', '{"tool": "Bash", "args": {"command": "ls"}}', [LS]],
    [
      'loose JSON',
      `\`\`\`json\n{"name": 'bash', "arguments": {"command": "ls",},}\n\`\`\``,
      [{ ...LS, arguments: '{"command":"ls"}' }],
    ],
  ])('are read from %s', (_, text, parts) => {
    expect(read(text)).toEqual(parts);
  });

  it('keep a fence inside of an argument', () => {
    const given = JSON.stringify({ path: 'a.md', content: '```sh\nls\n```\n' });
    expect(read(`\`\`\`json\n{"name": "write_file", "arguments": ${given}}\n\`\`\`\n`)).toEqual([
      { name: 'write_file', arguments: given },
    ]);
  });

  it.each([
    '{"name": "Ann", "arguments": {}}',
    '{"total": 12}',
    '```json\n{"name": "Ann", "age": 7}\n```',
    '```python\nprint({"name": "bash", "arguments": {}})\n```\n',
    '```js\nconst a = {\n  b: 1,\n};\n```',
    '[see](https://x.example) and [1]\n[ ] a task\n{x}',
    `<think>\n${JSON_LS}\n</think>\nNo call.`,
    `The form is ${JSON_LS} in one line.`,
    'a <tool_call>nothing</tool_call> b',
    '{"name": "bash", "argu',
    '``` and <tool_cal',
    ' \n',
  ])('are not in an answer that only resembles one: %j', (text) => {
    expect(read(text)).toEqual([text]);
  });

  it('are given as soon as they are complete, and text before them at once', () => {
    const reader = createWrittenCallReader(TOOLS);
    expect(join(reader.push('I will look '))).toEqual(['I will look']);
    expect(join(reader.push('into it.\n<tool_'))).toEqual([' into it.']);
    expect(join(reader.push(`call>${JSON_LS}</tool_ca`))).toEqual([]);
    expect(join(reader.push('ll>'))).toEqual([LS]);
    expect(join(reader.end())).toEqual([]);
  });

  it('do not depend on how the reply is cut into pieces, and without one the reply is unchanged', () => {
    const piece = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '```json\n',
      '```',
      '\n',
      ' ',
      JSON_LS,
      '{"a": 1}',
      '[',
      '{',
      '<think>',
      '</think>',
      '[TOOL_CALLS]',
      'word',
      '"',
    );
    let calls = 0;
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 10 }),
        fc.integer({ min: 1, max: 7 }),
        (pieces, size) => {
          const text = pieces.join('');
          const whole = read(text);
          const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
          expect(read(...chunks)).toEqual(whole);
          const found = whole.filter((part) => typeof part === 'object').length;
          calls += found;
          if (found === 0) expect(whole.join('')).toBe(text);
        },
      ),
      { numRuns: 600 },
    );
    expect(calls).toBeGreaterThan(5);
  });
});
