import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configJsonSchema } from '../../src/config/schema.ts';
import { asObject, isObject } from '../../src/core/json.ts';

it('is the content of config.schema.json (fix: npm run -s instar -- doctor --schema > config.schema.json)', () => {
  const file = readFileSync(new URL('../../config.schema.json', import.meta.url), 'utf8');
  expect(file, 'stale: run npm run -s instar -- doctor --schema > config.schema.json').toBe(
    `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  );
});

it('describes every key and forbids unknown ones', () => {
  const undescribed: string[] = [];
  const open: string[] = [];
  const walk = (value: unknown, path: string): void => {
    const schema = asObject(value);
    if (schema.properties !== undefined && schema.additionalProperties !== false) open.push(path);
    for (const [name, member] of Object.entries(asObject(schema.properties))) {
      if (asObject(member).description === undefined) undescribed.push(`${path}.${name}`);
      walk(member, `${path}.${name}`);
    }
    for (const member of [schema.additionalProperties, schema.items]) {
      if (isObject(member)) walk(member, `${path}.*`);
    }
    for (const branch of Array.isArray(schema.anyOf) ? schema.anyOf : []) walk(branch, path);
  };
  const schema = configJsonSchema();
  walk(schema, '');
  expect(undescribed).toEqual([]);
  expect(open).toEqual([]);
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
});
