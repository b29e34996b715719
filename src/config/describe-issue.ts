import type { z } from 'zod';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import type { Problem } from './config-error.ts';
import { configJsonSchema } from './json-schema.ts';
import { neutraliseLine } from './printable.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const KEY_LIKE = /^(key|api[-_]?key|token|secret|password|auth(orization)?|bearer)$/i;
const KINDS: Record<string, string> = {
  string: 'text in double quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object { … }',
  record: 'an object { … }',
  array: 'a list [ … ]',
};

/** One issue of the schema in a person's words: where, what is wrong, the mend. Values are never repeated. */
export function describeIssue(issue: Issue, input: unknown, base: Path = []): readonly Problem[] {
  const path = [...base, ...issue.path];
  const at = renderPath(path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => describeUnknownKey(path, key));
    case 'invalid_union':
      return nearestBranch(issue.errors).flatMap((inner) => describeIssue(inner, input, path));
    case 'invalid_key':
      return issue.issues.map((inner) => ({ path: at, what: inner.message }));
    case 'invalid_type':
      return [
        valueAt(input, path) === undefined
          ? { path: at, what: 'is missing', mend: `give it ${KINDS[issue.expected] ?? issue.expected}` }
          : { path: at, what: `must be ${KINDS[issue.expected] ?? issue.expected}` },
      ];
    case 'invalid_value': {
      const values = issue.values.map(String);
      const given = asString(valueAt(input, path));
      const meant = given === undefined ? undefined : closestWord(given, values);
      const what = `must be ${values.map((value) => JSON.stringify(value)).join(' or ')}`;
      return [{ path: at, what, ...(meant !== undefined && { mend: didYouMean(meant) }) }];
    }
    case 'too_small':
    case 'too_big': {
      const small = issue.code === 'too_small';
      const unit =
        issue.origin === 'string' ? ' characters long' : issue.origin === 'array' ? ' entries long' : '';
      if (!issue.message.startsWith('Too ')) return [{ path: at, what: issue.message }];
      const limit = small ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
      return [{ path: at, what: `must be ${limit}${unit}` }];
    }
    case 'custom': {
      const mend = asString(issue.params?.mend);
      return [{ path: at, what: issue.message, ...(mend !== undefined && { mend }) }];
    }
    default:
      return [{ path: at, what: issue.message }];
  }
}

export const didYouMean = (word: string): string => `did you mean ${JSON.stringify(word)}?`;

/** A path as people write it; keys that are no plain words are quoted. */
export const renderPath = (path: Path): string =>
  path.length === 0
    ? 'config'
    : path.reduce<string>((text, key) => {
        if (typeof key === 'number') return `${text}[${key}]`;
        const name = String(key);
        if (!/^[\w$-]+$/.test(name)) return `${text}[${neutraliseLine(JSON.stringify(name.slice(0, 80)))}]`;
        return text === '' ? name : `${text}.${name}`;
      }, '');

function describeUnknownKey(path: Path, key: string): Problem {
  const at = renderPath([...path, key]);
  if (path[0] === 'providers' && path.length === 2 && KEY_LIKE.test(key)) {
    return {
      path: at,
      what: 'keys do not belong in this file: it is copied, shown and backed up',
      mend: 'put the key in a variable and name it with "keyEnv", or in a file and name that with "keyFile"',
    };
  }
  const meant = closestWord(key, knownKeys(path));
  return {
    path: at,
    what: 'is not a setting',
    mend: meant === undefined ? 'take it out' : didYouMean(meant),
  };
}

/** The branch that was probably meant: one whose kind fits what was given, then one that names its choices. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const misfit = (branch: readonly Issue[]): number => {
    const atRoot = branch.filter((issue) => issue.path.length === 0).map((issue) => issue.code);
    return atRoot.includes('invalid_type') ? 2 : atRoot.includes('invalid_value') ? 1 : 0;
  };
  return branches.toSorted((a, b) => misfit(a) - misfit(b))[0] ?? [];
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return value;
}

let rootSchema: JsonObject | undefined;

function knownKeys(path: Path): readonly string[] {
  rootSchema ??= configJsonSchema();
  let schemas: readonly JsonObject[] = [rootSchema];
  for (const key of path) {
    schemas = schemas.flatMap(branches).map((schema) => {
      const members = asObject(schema.properties);
      if (typeof key === 'number') return asObject(schema.items);
      return asObject(Object.hasOwn(members, key) ? members[String(key)] : schema.additionalProperties);
    });
  }
  return schemas.flatMap(branches).flatMap((schema) => Object.keys(asObject(schema.properties)));
}

const branches = (schema: JsonObject): readonly JsonObject[] => [
  schema,
  ...asArray(schema.anyOf).map((branch) => asObject(branch)),
];
