import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { schemaFault } from '../../src/gateway/schema-fault.ts';
import { runsOf } from '../support/counts.ts';

const WEATHER: Json = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: ['integer', 'null'] },
    unit: { enum: ['C', 'F'] },
    places: { type: 'array', items: { $ref: '#/$defs/place' } },
    when: { anyOf: [{ type: 'string' }, { type: 'object', required: ['day'] }] },
  },
  required: ['city'],
  $defs: { place: { type: 'object', required: ['x'], properties: { x: { type: 'number' } } } },
};

const ROWS: readonly (readonly [value: Json, fault: string | undefined])[] = [
  [{ city: 'Zürich' }, undefined],
  [{ city: 'Zürich', days: null, unit: 'C', places: [{ x: 1.5 }], when: 'now', other: [] }, undefined],
  [{ city: 'Zürich', days: 3, when: { day: 1 } }, undefined],
  [{}, 'it.city is missing'],
  [{ city: 7 }, 'it.city is not of type string'],
  [{ city: 'Z', days: 1.5 }, 'it.days is not of type integer or null'],
  [{ city: 'Z', unit: 'K' }, 'it.unit is not one of the values that its schema names'],
  [{ city: 'Z', places: [{ x: 1 }, {}] }, 'it.places[1].x is missing'],
  [{ city: 'Z', when: 4 }, 'it.when matches none of its alternatives'],
  ['Zürich', 'it is not of type object'],
];

describe('the fault of a value by a schema', () => {
  it.each(ROWS)('%j: %s', (value, fault) => {
    expect(schemaFault(value, WEATHER)).toBe(fault);
  });

  it('takes no inherited member for a given one', () => {
    expect(schemaFault({}, { required: ['constructor'] })).toBe('it.constructor is missing');
    const given = JSON.parse('{"__proto__":1}') as Json;
    expect(schemaFault(given, { properties: { toString: { type: 'string' } } })).toBeUndefined();
    expect(schemaFault(given, { required: ['__proto__'] })).toBeUndefined();
  });

  const keyword = fc.constantFrom(
    'type',
    'enum',
    'const',
    'required',
    'properties',
    'items',
    'anyOf',
    'oneOf',
    'allOf',
    '$ref',
    '$defs',
    'nullable',
  );
  const word = fc.constantFrom(
    'string',
    'integer',
    'object',
    'array',
    'a',
    '#',
    '#/a',
    '#/anyOf/0',
    '__proto__',
  );
  const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue() as fc.Arbitrary<Json>,
      word,
      fc.array(tie('schema'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(keyword, word), tie('schema'), { maxKeys: 5 }) as fc.Arbitrary<Json>,
    ),
  }));

  it('is found without an exception for any value and anything that is given as a schema', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue() as fc.Arbitrary<Json>, schema), schema, (value, given) => {
        expect(['string', 'undefined']).toContain(typeof schemaFault(value, given));
      }),
      runsOf(170, 500),
    );
  });

  it('ends for a schema that refers to itself, for one that branches without end, and for a value nested 100,000 deep', () => {
    expect(schemaFault(1, { $ref: '#' })).toBeUndefined();
    const branching: Json = { allOf: Array.from({ length: 9 }, () => ({ $ref: '#' })) };
    expect(schemaFault({}, branching)).toBeUndefined();
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as Json;
    expect(schemaFault(deep, { type: 'array', items: { $ref: '#' } })).toBeUndefined();
    expect(schemaFault(deep, deep)).toBeUndefined();
    expect(schemaFault(deep, { enum: [deep] })).toBeUndefined();
  });
});
