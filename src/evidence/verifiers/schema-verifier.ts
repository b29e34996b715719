import { compilePattern, LONGEST_TEXT } from '../../base/linear-regex.ts';
import { asArray, isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { graded, type Verifier } from '../../core/verifier.ts';

const LONGEST = 1_000_000;
const DEEPEST = 64;

/** The output is or contains JSON that matches a schema. Throws a SchemaError for an invalid schema. */
export function createSchemaVerifier(schema: Json): Verifier {
  const check = compileSchema(schema);
  return async ({ output }) => {
    if (output.length > LONGEST) return graded(0, `it is longer than ${LONGEST} characters`);
    const texts = candidatesIn(output);
    if (texts.some(isTooDeep)) return graded(0, `it is nested more than ${DEEPEST} deep`);
    const value = firstJson(texts);
    if (value === undefined) return graded(0, 'it contains no JSON');
    const fault = check(value, 'it');
    return fault === undefined ? graded(1, 'it matches the schema') : graded(0, fault);
  };
}

const firstJson = (texts: readonly string[]): Json | undefined =>
  texts.map(parseJson).find((one) => one !== undefined);

/** The JSON that an output is or contains; undefined when there is none, or when it is too large to read. */
export function jsonIn(output: string): Json | undefined {
  const texts = output.length > LONGEST ? [] : candidatesIn(output);
  return texts.some(isTooDeep) ? undefined : firstJson(texts);
}

/** Where the JSON may be: the whole output, the last fenced block, or from the first bracket to the last. */
function candidatesIn(output: string): readonly string[] {
  const text = output.trim();
  const end = text.lastIndexOf('```');
  const begin = end < 1 ? -1 : text.lastIndexOf('```', end - 1);
  const fenced = begin < 0 ? [] : [text.slice(begin + 3, end).replace(/^\w{0,20}\s/, '')];
  const from = text.search(/[[{]/);
  const to = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'));
  return [text, ...fenced, ...(from < 0 || to < from ? [] : [text.slice(from, to + 1)])];
}

/** The parser and the check are recursive, so the depth is limited. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isText && char === '\\') at++;
    else if (char === '"') isText = !isText;
    else if (isText) continue;
    else if ((char === '[' || char === '{') && ++depth > DEEPEST) return true;
    else if (char === ']' || char === '}') depth--;
  }
  return false;
}

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
const DEEPEST_SCHEMA = 40;

/**
 * The common part of JSON Schema: types, enums, objects, arrays, numbers, strings and combinators. Throws a SchemaError
 * for an unknown keyword: an unchecked rule must not look checked. (zod's `fromJSONSchema` ignores unknown keywords and
 * keywords without a `type`, compares objects in `enum` by identity, has no `not`, and runs `pattern` with backtracking.)
 */
function compileSchema(schema: Json, where = '#', depth = 0): SchemaCheck {
  if (schema === true) return () => undefined;
  if (schema === false) return (_, at) => `${at} is not allowed`;
  if (!isObject(schema)) throw new SchemaError(`${where} is not a schema: use an object, true or false`);
  if (depth > DEEPEST_SCHEMA) throw new SchemaError(`${where} is nested more than ${DEEPEST_SCHEMA} deep`);
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

/** Why a value does not match, with its path; undefined when it does. */
type SchemaCheck = (value: Json, at: string) => string | undefined;

class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** A keyword of a schema, to be compiled to a check. */
interface Keyword {
  readonly rule: Json;
  /** The schema with the keyword. */
  readonly schema: JsonObject;
  readonly where: string;
  readonly inner: (sub: Json | undefined, name: string) => SchemaCheck;
}

const firstFault = (checks: readonly SchemaCheck[], value: Json, at: string): string | undefined => {
  for (const check of checks) {
    const fault = check(value, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

type MakeCheck = (keyword: Keyword) => SchemaCheck;

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => isObject(value),
};

/** Equal values give equal text, whatever the order of their members. */
const canonical = (value: Json): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

const LIMITS = {
  'at least': (size: number, bound: number) => size >= bound,
  'at most': (size: number, bound: number) => size <= bound,
  'more than': (size: number, bound: number) => size > bound,
  'less than': (size: number, bound: number) => size < bound,
};

const limit =
  (sizeOf: (value: Json) => number | undefined, side: keyof typeof LIMITS, unit: string): MakeCheck =>
  ({ rule, where }) => {
    if (typeof rule !== 'number') throw new SchemaError(`${where} is not a number`);
    return (value, at) => {
      const size = sizeOf(value);
      return size === undefined || LIMITS[side](size, rule)
        ? undefined
        : `${at} is not ${side} ${rule}${unit}`;
    };
  };

const numberIn = (value: Json): number | undefined => (typeof value === 'number' ? value : undefined);
const itemsIn = (value: Json): number | undefined => (Array.isArray(value) ? value.length : undefined);
const membersIn = (value: Json): number | undefined =>
  isObject(value) ? Object.keys(value).length : undefined;
const lettersIn = (value: Json): number | undefined =>
  typeof value === 'string' ? [...value].length : undefined;

function listOf(rule: Json, where: string): readonly Json[] {
  if (!Array.isArray(rule) || rule.length === 0) throw new SchemaError(`${where} is not a non-empty list`);
  return asArray(rule);
}

const ROWS: Readonly<Record<string, MakeCheck>> = {
  type: ({ rule, where }) => {
    const types = Array.isArray(rule) ? asArray(rule) : [rule];
    const unknown = (types.length === 0 ? [null] : types).find(
      (type) => typeof type !== 'string' || !Object.hasOwn(TYPES, type),
    );
    if (unknown !== undefined)
      throw new SchemaError(
        `${where}: ${JSON.stringify(unknown)} is not a type: use ${Object.keys(TYPES).join(', ')}`,
      );
    return (value, at) =>
      types.some((type) => TYPES[String(type)]?.(value))
        ? undefined
        : `${at} is not of type ${types.join(' or ')}`;
  },
  enum: ({ rule, where }) => {
    const allowed = new Set(listOf(rule, where).map(canonical));
    return (value, at) => (allowed.has(canonical(value)) ? undefined : `${at} is not in its enum`);
  },
  const: ({ rule }) => {
    const wanted = canonical(rule);
    return (value, at) => (canonical(value) === wanted ? undefined : `${at} is not ${wanted.slice(0, 80)}`);
  },
  required: ({ rule, where }) => {
    const names = listOf(rule, where).filter((name) => typeof name === 'string');
    return (value, at) => {
      const missing = isObject(value) ? names.find((name) => !Object.hasOwn(value, name)) : undefined;
      return missing === undefined ? undefined : `${at}.${missing} is missing`;
    };
  },
  properties: ({ rule, inner, where }) => {
    if (!isObject(rule)) throw new SchemaError(`${where} is not an object`);
    const members = Object.entries(rule).map(
      ([name, sub]) => [name, inner(sub, `properties/${name}`)] as const,
    );
    return (value, at) => {
      if (!isObject(value)) return undefined;
      for (const [name, check] of members) {
        const member = Object.hasOwn(value, name) ? value[name] : undefined;
        const fault = member === undefined ? undefined : check(member, `${at}.${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
  },
  additionalProperties: ({ rule, schema, inner }) => {
    const known = isObject(schema.properties) ? new Set(Object.keys(schema.properties)) : new Set<string>();
    const check = inner(rule, 'additionalProperties');
    return (value, at) => {
      if (!isObject(value)) return undefined;
      for (const [name, member] of Object.entries(value)) {
        const fault =
          known.has(name) || member === undefined ? undefined : check(member, `${at}.${name.slice(0, 80)}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
  },
  items: ({ rule, inner }) => {
    const check = inner(rule, 'items');
    return (value, at) => {
      for (const [index, item] of (Array.isArray(value) ? asArray(value) : []).entries()) {
        const fault = check(item, `${at}[${index}]`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
  },
  minItems: limit(itemsIn, 'at least', ' items'),
  maxItems: limit(itemsIn, 'at most', ' items'),
  minProperties: limit(membersIn, 'at least', ' members'),
  maxProperties: limit(membersIn, 'at most', ' members'),
  minLength: limit(lettersIn, 'at least', ' characters'),
  maxLength: limit(lettersIn, 'at most', ' characters'),
  minimum: limit(numberIn, 'at least', ''),
  maximum: limit(numberIn, 'at most', ''),
  exclusiveMinimum: limit(numberIn, 'more than', ''),
  exclusiveMaximum: limit(numberIn, 'less than', ''),
  uniqueItems:
    ({ rule }) =>
    (value, at) =>
      rule === true && Array.isArray(value) && new Set(asArray(value).map(canonical)).size < value.length
        ? `${at} has duplicate items`
        : undefined,
  pattern: ({ rule, where }) => {
    if (typeof rule !== 'string') throw new SchemaError(`${where} is not a string`);
    const pattern = compilePattern(rule);
    return (value, at) =>
      typeof value !== 'string' || (value.length <= LONGEST_TEXT && pattern.test(value))
        ? undefined
        : `${at} does not match its pattern`;
  },
  allOf: ({ rule, inner, where }) => {
    const checks = listOf(rule, where).map((sub, index) => inner(sub, `allOf/${index}`));
    return (value, at) => firstFault(checks, value, at);
  },
  anyOf: ({ rule, inner, where }) => {
    const checks = listOf(rule, where).map((sub, index) => inner(sub, `anyOf/${index}`));
    return (value, at) =>
      checks.some((check) => check(value, at) === undefined)
        ? undefined
        : `${at} matches none of its alternatives`;
  },
  oneOf: ({ rule, inner, where }) => {
    const checks = listOf(rule, where).map((sub, index) => inner(sub, `oneOf/${index}`));
    return (value, at) =>
      checks.filter((check) => check(value, at) === undefined).length === 1
        ? undefined
        : `${at} does not match exactly one of its alternatives`;
  },
  not: ({ rule, inner }) => {
    const check = inner(rule, 'not');
    return (value, at) =>
      check(value, at) === undefined ? `${at} matches a schema that it must not match` : undefined;
  },
};

const KEYWORDS: ReadonlyMap<string, MakeCheck> = new Map(Object.entries(ROWS));
