import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { clip } from '../text/truncate.ts';

const DEEPEST = 64;
const MOST_STEPS = 20_000;
const LONGEST_NAME = 80;

/** One comparison of a value with a schema. */
interface SchemaWalk {
  readonly root: Json;
  steps: number;
}

/** Where in the value the comparison is. */
interface SchemaPlace {
  readonly at: string;
  readonly depth: number;
}

/**
 * Why a value does not fit a JSON Schema, with its path in names of the schema; undefined when it fits. It looks at types, required
 * members, enums, constants, items, combinations and references inside the schema, and at nothing else: a keyword that it does not
 * know, a malformed schema, and what lies beyond its limits of depth and steps all count as fitting. Total, for any two values.
 */
export function schemaFault(value: Json, schema: Json): string | undefined {
  return faultOf(value, schema, { at: 'it', depth: 0 }, { root: schema, steps: 0 });
}

function faultOf(
  value: Json,
  schema: Json | undefined,
  { at, depth }: SchemaPlace,
  walk: SchemaWalk,
): string | undefined {
  if (schema === false) return `${at} is not allowed`;
  if (!isObject(schema) || depth > DEEPEST || isSpent(walk)) return undefined;
  if (schema.nullable === true && value === null) return undefined;
  const inner = (sub: Json | undefined, one: Json = value, where = at): string | undefined =>
    faultOf(one, sub, { at: where, depth: depth + 1 }, walk);
  return (
    typeFault(value, schema.type, at) ??
    choiceFault(value, schema, at) ??
    (isObject(value) ? memberFault(value, schema, at, inner) : undefined) ??
    (Array.isArray(value) && isObject(schema.items)
      ? firstFault(value, (item, index) => inner(schema.items, item, `${at}[${index}]`))
      : undefined) ??
    (typeof schema.$ref === 'string' ? inner(referred(schema.$ref, walk.root)) : undefined) ??
    firstFault(schema.allOf, (sub) => inner(sub)) ??
    alternativesFault(schema.anyOf, at, inner) ??
    alternativesFault(schema.oneOf, at, inner)
  );
}

type Inner = (sub: Json | undefined, one?: Json, where?: string) => string | undefined;

const isSpent = (walk: SchemaWalk): boolean => ++walk.steps > MOST_STEPS;

const TYPES: ReadonlyMap<Json, (value: Json) => boolean> = new Map<Json, (value: Json) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['array', (value) => Array.isArray(value)],
  ['object', isObject],
]);

function typeFault(value: Json, type: Json | undefined, at: string): string | undefined {
  const types: readonly Json[] = Array.isArray(type) ? type : [type];
  // A type that nobody knows could be any.
  const isOne = types.length === 0 || types.some((one) => TYPES.get(one)?.(value) ?? true);
  return isOne ? undefined : `${at} is not of type ${types.join(' or ')}`;
}

/** Constants that are objects or lists are not compared. */
function choiceFault(value: Json, schema: JsonObject, at: string): string | undefined {
  const choices = schema.const === undefined ? schema.enum : [schema.const];
  if (!Array.isArray(choices) || choices.some((one) => typeof one === 'object' && one !== null))
    return undefined;
  return choices.includes(value) ? undefined : `${at} is not one of the values that its schema names`;
}

function memberFault(value: JsonObject, schema: JsonObject, at: string, inner: Inner): string | undefined {
  const missing = firstFault(schema.required, (name) =>
    typeof name !== 'string' || Object.hasOwn(value, name) ? undefined : `${nameIn(at, name)} is missing`,
  );
  if (missing !== undefined || !isObject(schema.properties)) return missing;
  const { properties } = schema;
  return firstFault(Object.keys(value), (name) => {
    const member = Object.hasOwn(properties, name) ? value[name] : undefined;
    return member === undefined ? undefined : inner(properties[name], member, nameIn(at, name));
  });
}

const nameIn = (at: string, name: string): string => `${at}.${clip(name, LONGEST_NAME)}`;

function alternativesFault(list: Json | undefined, at: string, inner: Inner): string | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.some((sub: Json) => inner(sub) === undefined)
    ? undefined
    : `${at} matches none of its alternatives`;
}

function firstFault<T extends Json>(
  list: readonly T[] | Json | undefined,
  check: (one: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, one] of (Array.isArray(list) ? (list as readonly T[]) : []).entries()) {
    const fault = check(one, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** `#/$defs/City`. Undefined, which every value fits, for a reference to elsewhere. */
function referred(reference: string, root: Json): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: Json | undefined = root;
  for (const part of reference.slice(1).split('/', DEEPEST).slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}
