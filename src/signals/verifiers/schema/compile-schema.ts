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
 * JSON Schema's common part: types, lists, objects, numbers, texts and the ways to combine them. Throws a SchemaError
 * for a keyword it does not know: what is not checked must not look as if it were.
 */
export function compileSchema(schema: Json, where = '#', depth = 0): SchemaCheck {
  if (schema === true) return () => undefined;
  if (schema === false) return (_, at) => `${at} must not be there`;
  if (!isObject(schema)) throw new SchemaError(`${where} is not a schema: write an object, true or false`);
  if (depth > DEEPEST) throw new SchemaError(`${where} is nested more than ${DEEPEST} deep`);
  const inner = (sub: Json | undefined, name: string): SchemaCheck =>
    compileSchema(sub ?? null, `${where}/${name}`, depth + 1);
  const checks = Object.entries(schema).flatMap(([name, rule]): readonly SchemaCheck[] => {
    if (rule === undefined || NOTES.has(name)) return [];
    const make = KEYWORDS.get(name);
    if (make === undefined)
      throw new SchemaError(`${where} has ${JSON.stringify(name)}, which is not checked here: take it out`);
    return [make({ rule, schema, where: `${where}/${name}`, inner })];
  });
  return (value, at) => firstFault(checks, value, at);
}
