import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import {
  createExactVerifier,
  createNumberVerifier,
  createRegexVerifier,
  findNumbers,
} from '../../../src/evidence/verifiers/answer-verifiers.ts';
import { createSchemaVerifier } from '../../../src/evidence/verifiers/schema-verifier.ts';
import { attemptOf, never, rewardOf } from './submissions.ts';

describe('an exact verifier', () => {
  const exact = createExactVerifier({});
  it.each<readonly [string, Json, number]>([
    ['Paris', 'paris', 1],
    ['  New\n York ', 'new york', 1],
    ['It is far. So the answer is: **Paris**', 'Paris', 1],
    ['First \\boxed{Rome}, no: \\boxed{\\text{Paris}}', '\\text{Paris}', 1],
    ['Lyon', 'Paris', 0],
    ['The answer is not Paris', 'Paris', 0],
    ['b', ['a', 'b'], 1],
    ['7', 7, 1],
    ['', 'Paris', 0],
  ])('%j for %j is %s', async (output, reference, reward) => {
    expect(rewardOf(await exact(attemptOf(output, { reference }), never))).toBe(reward);
  });

  it('gives no grade without a reference', async () => {
    expect(await exact(attemptOf('Paris'), never)).toMatchObject({ status: 'failed-to-run' });
  });

  it('compares case and the whole output when configured', async () => {
    const strict = createExactVerifier({ isCaseSensitive: true, from: 'whole' });
    expect(rewardOf(await strict(attemptOf('paris', { reference: 'Paris' }), never))).toBe(0);
    expect(rewardOf(await strict(attemptOf('Answer: Paris', { reference: 'Paris' }), never))).toBe(0);
  });
});

describe('an expected bare number', () => {
  const task = 'How many days are in the first three months of 2028?';
  const grade = async (output: string, reference: Json, match?: 'exact') =>
    rewardOf(
      await createExactVerifier(match === undefined ? {} : { match })(
        attemptOf(output, { reference, task }),
        never,
      ),
    );
  it.each<readonly [string, Json, number]>([
    ['There are 91 days.', '91', 1],
    ['There are 91 days in the first three months of 2028', '91', 1],
    ['So it is \\boxed{91}', '91', 1],
    ['**Answer:** 91 days', '91', 1],
    ['It costs € 1.250,00', '1,250', 1],
    ['That makes 1 250', '1250', 0],
    ['There are 90 days, not 91. Answer: 90', '91', 0],
    ['ninety-one', '91', 0],
    ['Platform 9', 'B9', 0],
  ])('%j for %j is %s', async (output, reference, reward) => {
    expect(await grade(output, reference)).toBe(reward);
  });

  it('is compared as a whole with match: exact, and a near miss says what to ask for', async () => {
    expect(await grade('There are 91 days.', '91', 'exact')).toBe(0);
    expect(await grade('91', '91', 'exact')).toBe(1);
    const near = await createExactVerifier({})(attemptOf('It is Paris.', { reference: 'Paris' }), never);
    expect(near).toMatchObject({ status: 'ok', reasons: [expect.stringContaining('Answer: …')] });
  });
});

describe('numbers', () => {
  it.each<readonly [string, readonly number[]]>([
    ['1,234.5 and 1.234,5', [1234.5, 1234.5]],
    ['3,14 3.14 0,125 1,250 1.250', [3.14, 3.14, 0.125, 1250, 1.25]],
    ['−2e-3, +4E2', [-0.002, 400]],
    ['1/2 of \\frac{3}{4}', [0.5, 0.75]],
    ["$1'000 or € 2_000 or 3\u202f000", [1000, 2000, 3000]],
    ['42 km², 7 m2, v1.2.3', [42, 7]],
    ['10-20', [10, 20]],
    ['1,2,3', [1, 2, 3]],
    ['no number: e5, x2', []],
    ['5/0', [5, 0]],
  ])('in %j are %j', (text, numbers) => {
    expect(findNumbers(text)).toEqual(numbers);
  });

  it('are parsed to the values that were formatted', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }).filter((one) => Math.abs(one) > 1e-6 || one === 0),
        (one) => {
          expect(findNumbers(`about ${one} metres`)[0]).toBeCloseTo(one, 6);
        },
      ),
    );
  });

  it('are found in linear time', () => {
    for (const text of [
      `1${','.repeat(50_000)}1`,
      '1'.repeat(50_000),
      '1/'.repeat(25_000),
      '1e'.repeat(25_000),
    ])
      expect(findNumbers(text).length).toBeGreaterThan(0);
  });
});

describe('a number verifier', () => {
  const near = createNumberVerifier({ tolerance: 0.01 });
  it.each<readonly [string, Json, number]>([
    ['There are 3 baskets of 14, so 42', 42, 1],
    ['Answer: 42 m2, from 3 baskets', '42 m²', 1],
    ['\\boxed{41.9}', 42, 1],
    ['\\boxed{41}', 42, 0],
    ['many', 42, 0],
    ['1/3', 0.3333, 1],
    ['-42', 42, 0],
    ['0', 0, 1],
  ])('%j for %j is %s', async (output, reference, reward) => {
    expect(rewardOf(await near(attemptOf(output, { reference }), never))).toBe(reward);
  });

  it('gives no grade when the reference has no number', async () => {
    expect(rewardOf(await near(attemptOf('42', { reference: 'many' }), never))).toBe('none');
  });
});

describe('a regex verifier', () => {
  it('matches anywhere, or the whole output', async () => {
    const anywhere = createRegexVerifier({ pattern: 'ap+le|pear' });
    const whole = createRegexVerifier({ pattern: 'ap+le|pear', match: 'whole' });
    for (const [output, inIt, all] of [
      ['an apple', 1, 0],
      ['pear', 1, 1],
      ['plum', 0, 0],
    ] as const) {
      expect(rewardOf(await anywhere(attemptOf(output), never))).toBe(inIt);
      expect(rewardOf(await whole(attemptOf(output), never))).toBe(all);
    }
  });

  it('rejects a pattern that closes the surrounding group', () => {
    expect(() => createRegexVerifier({ pattern: 'a)|(?:b', match: 'whole' })).toThrow();
  });

  it('gives no grade to an output that is too long', async () => {
    expect(rewardOf(await createRegexVerifier({ pattern: 'x' })(attemptOf('y'.repeat(60_000)), never))).toBe(
      'none',
    );
  });
});

describe('a schema verifier', () => {
  const order = createSchemaVerifier({
    type: 'object',
    required: ['id', 'items'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', pattern: '^[A-Z]{2}-\\d+$', maxLength: 8 },
      items: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: { type: 'object', properties: { n: { type: 'integer', minimum: 1, exclusiveMaximum: 10 } } },
      },
      state: { enum: ['open', { done: true, by: 'x' }] },
      note: { anyOf: [{ type: 'null' }, { type: 'string', minLength: 2 }] },
    },
  });
  it.each([
    ['{"id":"AB-1","items":[{"n":1}]}', 1],
    ['Here it is:\n```json\n{"id":"AB-1","items":[{}],"state":{"by":"x","done":true}}\n```\nDone.', 1],
    ['Sure: {"id":"AB-1","items":[1]} there', 0],
    ['so {"id":"AB-1","items":[{"n":2}],"note":null} it is', 1],
    ['{"id":"AB-1","items":[{"n":2}],"note":"x"}', 0],
    ['{"id":"AB-1"}', 0],
    ['{"id":"AB-1","items":[]}', 0],
    ['{"id":"AB-1","items":[{"n":1},{"n":1}]}', 0],
    ['{"id":"AB-1","items":[{"n":10}]}', 0],
    ['{"id":"AB-1","items":[{"n":1.5}]}', 0],
    ['{"id":"ab-1","items":[{}]}', 0],
    ['{"id":"AB-1","items":[{}],"more":1}', 0],
    ['{"id":"AB-1","items":[{}],"state":"shut"}', 0],
    ['{"id":"AB-1","items":[{}],"__proto__":{}}', 0],
    ['not json', 0],
    ['', 0],
    ['['.repeat(100_000), 0],
  ])('%.60s is %s', async (output, reward) => {
    expect(rewardOf(await order(attemptOf(output), never))).toBe(reward);
  });

  it('does not count brackets inside strings as depth', async () => {
    const any = createSchemaVerifier({ type: 'string' });
    expect(rewardOf(await any(attemptOf(JSON.stringify(`${'['.repeat(200)}\\"`)), never))).toBe(1);
  });

  it.each<readonly [Json, string]>([
    [{ type: 'strng' }, '"strng" is not a type'],
    [{ type: 'constructor' }, 'is not a type'],
    [{ format: 'email' }, '"format", which is not supported'],
    [{ constructor: 1 }, 'not supported'],
    [{ properties: { a: { $ref: '#/x' } } }, '#/properties/a has "$ref"'],
    [{ enum: 'a' }, 'not a non-empty list'],
    [{ minItems: '1' }, 'not a number'],
    [{ pattern: '(a)\\1' }, 'back reference'],
    ['x', 'not a schema'],
  ])('rejects the schema %j: %s', (schema, why) => {
    expect(() => createSchemaVerifier(schema)).toThrow(why);
  });

  it('combines allOf, oneOf and not', async () => {
    const schema = { allOf: [{ oneOf: [{ minimum: 5 }, { maximum: 7 }] }, { not: { const: 9 } }, true] };
    const verify = createSchemaVerifier(schema);
    const rewards = await Promise.all(
      ['4', '6', '8', '9'].map(async (one) => rewardOf(await verify(attemptOf(one), never))),
    );
    expect(rewards).toEqual([1, 0, 1, 0]);
  });
});
