import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJson } from '../../../src/learn/ask.ts';

const value = (said: string) => {
  const found = findJson(said);
  return 'value' in found ? found.value : found.fault;
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
    ['', 'it is empty'],
    ['I cannot help with that.', 'it holds no JSON'],
    ['[{"name": "a"}, {"name": ', 'its JSON is cut off before the end: answer shorter'],
    ['{"a": 1,}', /^its JSON does not parse/],
    [`${'['.repeat(400_000)}${']'.repeat(400_000)}`, 'its JSON is nested more than 64 levels deep'],
  ])('says what is wrong with %.40j', (said, fault) =>
    expect(value(said)).toEqual(expect.stringMatching(fault)),
  );

  it('is the outer value or a fault (not a part of a broken value)', () => {
    expect(value('[{"inner": {"x": 1}}, oops')).toMatch(/cut off/);
    expect(value('{"a": {"x": 1}, b} {"y": 2}')).toMatch(/does not parse/);
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
