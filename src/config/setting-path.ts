import { neutraliseLine } from '../base/printable.ts';
import { asArray, asObject, asString, compact, isObject, type Json, type JsonObject } from '../core/json.ts';
import { configJsonSchema } from './schema.ts';

/** The keys from the root of the config to a setting; numbers are places in a list. */
export type SettingPath = readonly (string | number)[];

/** A path such as `models.fast[0]`; unusual keys are quoted. */
export const renderPath = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? 'config'
    : path.reduce<string>((text, key) => {
        if (typeof key === 'number') return `${text}[${key}]`;
        const name = String(key);
        if (!/^[\w$-]+$/.test(name)) return `${text}[${neutraliseLine(JSON.stringify(name.slice(0, 80)))}]`;
        return text === '' ? name : `${text}.${name}`;
      }, '');

/** The value at a path; undefined when there is none. */
export function settingAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** The paths of all values; lists and empty objects are values. */
export const leafPaths = (value: unknown, path: SettingPath = []): readonly SettingPath[] =>
  !isObject(value) || (Object.keys(value).length === 0 && path.length > 0)
    ? [path]
    : Object.entries(value).flatMap(([key, member]) =>
        member === undefined ? [] : leafPaths(member, [...path, key]),
      );

let rootSchema: JsonObject | undefined;

const branchesOf = (schema: JsonObject): readonly JsonObject[] => [
  schema,
  ...[...asArray(schema.anyOf), ...asArray(schema.oneOf)].map((branch) => asObject(branch)),
];

/** The JSON Schemas that may apply to the value at a path; none for a path that no config can have. */
function schemasAt(path: readonly PropertyKey[]): readonly JsonObject[] {
  rootSchema ??= configJsonSchema();
  let schemas: readonly JsonObject[] = [rootSchema];
  for (const key of path)
    schemas = schemas.flatMap(branchesOf).flatMap((schema): readonly JsonObject[] => {
      const members = asObject(schema.properties);
      const found =
        typeof key === 'number'
          ? schema.items
          : Object.hasOwn(members, key)
            ? members[String(key)]
            : schema.additionalProperties;
      return isObject(found) ? [found] : [];
    });
  return schemas.flatMap(branchesOf);
}

/** The keys that an object at this path may have. */
export const knownKeys = (path: readonly PropertyKey[]): readonly string[] =>
  schemasAt(path).flatMap((schema) => Object.keys(asObject(schema.properties)));

/** The JSON types that the value at a path may have; none for a path that no config can have. */
export const typesAt = (path: readonly PropertyKey[]): ReadonlySet<string> =>
  new Set(
    schemasAt(path).flatMap((schema) => {
      if (schema.type !== undefined) return [schema.type].flat().flatMap((type) => asString(type) ?? []);
      const values = [...asArray(schema.enum), ...(schema.const === undefined ? [] : [schema.const])];
      if (values.length > 0) return values.map((value) => typeof value);
      return isUntyped(schema) ? ['string', 'number', 'boolean', 'object', 'array', 'null'] : [];
    }),
  );

/** The value of a free-form entry, such as an option of a verifier. */
const isUntyped = (schema: JsonObject): boolean => schema.anyOf === undefined && schema.oneOf === undefined;

const PART = /\.?([^.[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/**
 * Reads `library.topK`, `models["gpt-5.2"]` or `learn.verifiers[0].domain`. A name of the user's own may contain dots without
 * quotes where that is not ambiguous: `models.gpt-5.2`. Undefined for a text that is no path at all; whether a config can
 * have such a setting is another question.
 */
export function parseSettingPath(text: string): SettingPath | undefined {
  const parts: (string | number)[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const isFirst = PART.lastIndex === 0;
    const match = PART.exec(text);
    if (match === null || (isFirst && match[0].startsWith('.'))) return undefined;
    const [, name, index, quoted] = match;
    if (quoted !== undefined) parts.push(String(JSON.parse(quoted)));
    else parts.push(index === undefined ? (name ?? '') : Number(index));
  }
  if (parts.length === 0) return undefined;
  return joinDottedName(parts) ?? parts;
}

/** The path with as few parts joined as the schema allows; undefined when no way of joining gives a known setting. */
function joinDottedName(parts: SettingPath): SettingPath | undefined {
  if (typesAt(parts).size > 0) return parts;
  for (let from = 1; from < parts.length; from++)
    for (let to = from + 2; to <= parts.length; to++) {
      const name = parts.slice(from, to);
      if (name.some((part) => typeof part === 'number')) break;
      const joined = [...parts.slice(0, from), name.join('.'), ...parts.slice(to)];
      if (typesAt(joined).size > 0 && !knownKeys(parts.slice(0, from)).includes(String(parts[from])))
        return joined;
    }
  return undefined;
}

/** Every setting of the schema: `library.topK`, and `providers.*.baseUrl` below names of the user's own. */
export const settingPaths = (): readonly string[] => [...new Set(pathsBelow([]))];

function pathsBelow(path: readonly string[]): readonly string[] {
  const schemas = schemasAt(path);
  const keys = knownKeys(path);
  const isOpen = schemas.some(({ additionalProperties }) => isObject(additionalProperties));
  const below = [...keys, ...(isOpen && path.length < 2 ? ['*'] : [])];
  if (below.length === 0 || path.length > MAX_DEPTH) return [path.join('.')];
  // A setting that is either a word or an object, such as the training engine, is one setting.
  const isWhole = schemas.some(({ type }) => type !== undefined && type !== 'object');
  return [...(isWhole ? [path.join('.')] : []), ...below.flatMap((key) => pathsBelow([...path, key]))];
}

const MAX_DEPTH = 8;

/** What a setting is for, and its value unless one is given: `{ description?, default? }`. */
export function settingNote(path: SettingPath): JsonObject {
  const schemas = schemasAt(path);
  const first = (member: 'description' | 'default'): Json | undefined =>
    schemas.find((schema) => schema[member] !== undefined)?.[member];
  return compact({ description: first('description'), default: first('default') });
}
