import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJson } from '../../../src/learn/find-json.ts';
import { runsOf } from '../../support/counts.ts';

const value = (said: string) => {
  const found = findJson(said);
  return found.ok ? found.value : found.why;
};

describe('the JSON in a reply', () => {
  it.each([
    ['[1, 2]', [1, 2]],
    ['```json\n{"a": [1]}\n```', { a: [1] }],
    ['Here you are:\n\n```\n[{"a": "x"}]\n```\nAnything else?', [{ a: 'x' }]],
    ['Sure! {"a": 1} is what I would say. {"b": 2}', { a: 1 }],
    ['As I [the model] said (see [notes]): ["x"]', ['x']],
    ['{"a": "} ] \\" {"}', { a: '} ] " {' }],
    ['{"code": "```js\\nf()\\n```"}', { code: '```js\nf()\n```' }],
    ['<think>maybe {"a": 0}?</think>\n{"a": 1}', { a: 1 }],
    ['0.25', 0.25],
    ['null', null],
  ])('reads %j', (said, expected) => expect(value(said)).toEqual(expected));

  it.each([
    ['a trailing comma', '{"a": 1, "b": [1, 2,],}', { a: 1, b: [1, 2] }],
    ['a missing comma', '{"a": "x"\n "b": "y"}', { a: 'x', b: 'y' }],
    ['a Python dict', "[{'a': 'it is', 'b': True, 'c': None}]", [{ a: 'it is', b: true, c: null }]],
    ['an apostrophe in single quotes', "{'a': 'don't touch it', 'b': 1}", { a: "don't touch it", b: 1 }],
    ['a line break inside a string', '{"a": "1. one\n2. two", "b": 2}', { a: '1. one\n2. two', b: 2 }],
    ['quotes inside a string', '{"a": "say "hello" twice", "b": 2}', { a: 'say "hello" twice', b: 2 }],
    ['bare keys', '{name: "x", steps: ["a", "b"]}', { name: 'x', steps: ['a', 'b'] }],
    ['comments', '{"a": 1, // the first\n /* and */ "b": 2 # the last\n}', { a: 1, b: 2 }],
    ['typographic quotes', '{“a”: “x y”, “b”: 2}', { a: 'x y', b: 2 }],
    ['triple quotes', '{"a": """one\n"two" three""", "b": 2}', { a: 'one\n"two" three', b: 2 }],
    ['backticks', '{"a": `one\ntwo`, "b": 2}', { a: 'one\ntwo', b: 2 }],
    ['an escape that JSON does not know', '{"a": "\\d+ and \\`x\\`"}', { a: '\\d+ and `x`' }],
    ['an end that is missing', '[{"a": 1}, {"a": 2', [{ a: 1 }, { a: 2 }]],
    [
      'a string that is cut off',
      '[{"name": "a", "b": "whole"}, {"name": "c", "b": "half of',
      [{ name: 'a', b: 'whole' }, { name: 'c' }],
    ],
    ['one object after the other', '{"a": 1}\n{"a": 2}\n\n{"a": 3}', [{ a: 1 }, { a: 2 }, { a: 3 }]],
    ['a bracket that is not closed', '[{"a": {"x": 1}, {"b": 2}]', undefined],
    ['reasoning in another tag', '<reasoning>{"a": 0}</reasoning>{"a": 1}', { a: 1 }],
    ['the end of reasoning alone', 'Maybe {"a": 0}.\n</think>\n\n{"a": 1}', { a: 1 }],
    [
      'a channel',
      '<|channel|>analysis<|message|>hm {"a": 0}<|end|><|start|>assistant<|channel|>final<|message|>{"a": 1}',
      { a: 1 },
    ],
    ['a fence of Python', 'Here:\n```python\n[{"a": True}]\n```', [{ a: true }]],
    ['a sentence with brackets before it', 'I use [1] and {x} here.\n```json\n{"a": 1}\n```', { a: 1 }],
  ])('is repaired: %s', (_, said, expected) => {
    if (expected === undefined) expect(() => value(said)).not.toThrow();
    else expect(value(said)).toEqual(expected);
  });

  it.each([
    ['', 'it is empty'],
    ['I cannot help with that.', 'it holds no JSON'],
    ['<think>I have to find {"a": 1}', 'it ends inside its reasoning: answer shorter'],
    ['{"a" 1 2 3', 'its JSON is cut off before the end: answer shorter'],
    ['{"a": @}', 'its JSON does not parse'],
    [`${'['.repeat(400_000)}${']'.repeat(400_000)}`, 'its JSON is nested more than 64 levels deep'],
  ])('says what is wrong with %.40j', (said, fault) => expect(value(said)).toBe(fault));

  it('is the outer value (not a part of a broken value)', () => {
    expect(value('[{"inner": {"x": 1}}, ')).toEqual([{ inner: { x: 1 } }]);
    expect(value('{"a": {"x": 1}, b} {"y": 2}')).not.toEqual({ x: 1 });
  });

  it('is JSON as it stands where it is JSON, whatever its strings contain', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (object) => {
        expect(value(JSON.stringify(object))).toEqual(JSON.parse(JSON.stringify(object)));
        expect(value(`\n${JSON.stringify([object], null, 2)}\n`)).toEqual(
          JSON.parse(JSON.stringify([object])),
        );
      }),
    );
  });

  it('never throws and takes linear time, whatever the reply', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]()"\'`,:\\\n #/ab1“”'), maxLength: 300 }),
        (said) => {
          expect(findJson(said)).toBeTypeOf('object');
        },
      ),
      runsOf(670, 2000),
    );
    for (const unit of [
      '{"a',
      '"',
      "[{'",
      '{"a": "b" ',
      '[1,',
      '{a:',
      '\\"',
      '# ',
      '/*',
      '""" ',
      '{"a": ```json\n',
    ]) {
      // Time of the processor: a busy machine decides nothing.
      const began = process.cpuUsage();
      findJson(unit.repeat(Math.ceil(1_000_000 / unit.length)));
      expect(process.cpuUsage(began).user / 1000, unit).toBeLessThan(8000);
    }
  });

  it('is found between any sentences', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.json()), fc.dictionary(fc.string(), fc.json())),
        fc.boolean(),
        (inner, isFenced) => {
          const json = JSON.stringify(inner);
          const said = isFenced ? `Well:\n\`\`\`json\n${json}\n\`\`\`\nDone.` : `Well: ${json} is it.`;
          expect(value(said)).toEqual(JSON.parse(json));
        },
      ),
    );
  });
});
