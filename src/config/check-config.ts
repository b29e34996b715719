import type { z } from 'zod';
import { neutraliseLine } from '../base/printable.ts';
import { asArray, asObject, asString, isObject, type JsonObject } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { environmentProviders, LOCAL_PROVIDER_NAMES } from './known-providers.ts';
import { parseModelRef } from './model-ref.ts';
import { type Config, configJsonSchema, configSchema } from './schema.ts';

export interface CheckedConfig {
  readonly config: Config;
  /** Where the providers come from. */
  readonly source: 'file' | 'environment' | 'none';
  /** What a person may want to know, though nothing is wrong. */
  readonly notes: readonly string[];
}

export interface CheckConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The port to listen on when it is not the configured one. */
  readonly port?: number;
}

/** Settings from any value, with providers from the environment when it names none. Throws only `ConfigError`. */
export function checkConfig(input: unknown, options: CheckConfigOptions): CheckedConfig {
  const parsed = configSchema.safeParse(input);
  const ownPort = options.port ?? (parsed.success ? parsed.data.gateway.port : 4600);
  const named = Object.keys(asObject(asObject(input).providers));
  const found = named.length === 0 ? environmentProviders(options.env, ownPort) : undefined;
  const problems: Problem[] = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => describeIssue(issue, input)),
    ...(found?.problems ?? []),
    ...unknownProviders(input, [
      ...(found ? Object.keys(found.providers) : named),
      ...LOCAL_PROVIDER_NAMES.filter((name) => !named.includes(name)),
    ]),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  if (!found) return { config: parsed.data, source: 'file', notes: [] };
  const { providers, usual, notes } = found;
  const models = usual === undefined ? parsed.data.models : { default: usual, ...parsed.data.models };
  const source = Object.keys(providers).length > 0 ? 'environment' : 'none';
  return { config: { ...parsed.data, providers, models }, source, notes };
}

/** Read from the raw input, so that an alias is checked even while something else is wrong. */
function unknownProviders(input: unknown, providers: readonly string[]): readonly Problem[] {
  return Object.entries(asObject(asObject(input).models)).flatMap(([alias, value]) => {
    const single = !Array.isArray(value);
    return (single ? [value] : asArray(value)).flatMap((member, index): readonly Problem[] => {
      const ref = isObject(member) ? undefined : parseModelRef(asString(member) ?? '');
      if (ref === undefined || providers.includes(ref.provider)) return [];
      const meant = closestWord(ref.provider, providers);
      return [
        {
          path: renderPath(single ? ['models', alias] : ['models', alias, index]),
          what: `names a provider that is not configured (${JSON.stringify(ref.provider.slice(0, 64))})`,
          mend: meant === undefined ? 'add it under "providers"' : didYouMean(meant),
        },
      ];
    });
  });
}

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
function describeIssue(issue: Issue, input: unknown, base: Path = []): readonly Problem[] {
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

const didYouMean = (word: string): string => `did you mean ${JSON.stringify(word)}?`;

/** A path as people write it; keys that are no plain words are quoted. */
const renderPath = (path: Path): string =>
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
