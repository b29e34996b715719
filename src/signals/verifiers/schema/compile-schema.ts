import { isObject, type Json } from '../../../core/json.ts';
import { KEYWORDS } from './keywords.ts';
import { firstFault, type SchemaCheck, SchemaError } from './schema-check.ts';

const NOTES = new Set([
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);
const DEEPEST = 40;

/**
 * The common part of JSON Schema: types, enums, objects, arrays, numbers, strings and combinators. Throws a SchemaError
 * for an unknown keyword: an unchecked rule must not look checked. (zod's `fromJSONSchema` ignores unknown keywords and
 * keywords without a `type`, compares objects in `enum` by identity, has no `not`, and runs `pattern` with backtracking.)
 */
export function compileSchema(schema: Json, where = '#', depth = 0): SchemaCheck {
  if (schema === true) return () => undefined;
  if (schema === false) return (_, at) => `${at} is not allowed`;
  if (!isObject(schema)) throw new SchemaError(`${where} is not a schema: use an object, true or false`);
  if (depth > DEEPEST) throw new SchemaError(`${where} is nested more than ${DEEPEST} deep`);
  const inner = (sub: Json | undefined, name: string): SchemaCheck =>
    compileSchema(sub ?? null, `${where}/${name}`, depth + 1);
  const checks = Object.entries(schema).flatMap(([name, rule]): readonly SchemaCheck[] => {
    if (rule === undefined || NOTES.has(name)) return [];
    const make = KEYWORDS.get(name);
    if (make === undefined)
      throw new SchemaError(`${where} has ${JSON.stringify(name)}, which is not supported: remove it`);
    return [make({ rule, schema, where: `${where}/${name}`, inner })];
  });
  return (value, at) => firstFault(checks, value, at);
}
