import { asArray, asObject, isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';

const DEPTH = 4;

/**
 * Why these arguments do not fit the tool's schema; undefined when they do. Only what no client could accept counts: a
 * missing value, a wrong type, or a value outside an enum. References, alternatives and patterns are not checked.
 */
export function checkArguments(schema: unknown, text: string): string | undefined {
  const value = text.trim() === '' ? {} : parseJson(text);
  if (value === undefined) return 'arguments are not JSON';
  const root = asObject(schema);
  const isKnown = root.type === 'object' || isObject(root.properties);
  if (!isKnown) return undefined;
  return isObject(value) ? checkObject(root, value, 0) : 'arguments are not an object';
}

function checkObject(schema: JsonObject, value: JsonObject, depth: number): string | undefined {
  const required = asArray(schema.required).filter((name) => typeof name === 'string');
  if (required.some((name) => value[name] === undefined)) return 'a required argument is missing';
  for (const [name, member] of Object.entries(value)) {
    const property = asObject(schema.properties)[name];
    // Models write null for arguments they omit, and clients accept it.
    const isLeftOut = member === undefined || (member === null && !required.includes(name));
    if (!isObject(property) || isLeftOut) continue;
    const problem = checkValue(property, member, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkValue(schema: JsonObject, value: Json, depth: number): string | undefined {
  const isOpen = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not'].some((key) => schema[key] !== undefined);
  if (isOpen || depth > DEPTH) return undefined;
  const types = typeof schema.type === 'string' ? [schema.type] : asArray(schema.type);
  if (types.length > 0 && !types.some((type) => isOfType(type, value)))
    return 'an argument has the wrong type';
  const list = asArray(schema.enum);
  const isPlain = typeof value === 'string' || typeof value === 'number';
  if (isPlain && list.length > 0 && !list.includes(value)) return 'an argument is outside its enum';
  if (isObject(value)) return checkObject(schema, value, depth);
  const items = schema.items;
  if (!Array.isArray(value) || !isObject(items)) return undefined;
  return (value as readonly Json[])
    .map((item) => checkValue(items, item, depth + 1))
    .find((problem) => problem !== undefined);
}

function isOfType(type: Json, value: Json): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'null') return value === null;
  if (type === 'string' || type === 'number' || type === 'boolean') return typeof value === type;
  return true;
}
