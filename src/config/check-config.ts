import type { z } from 'zod';
import { asArray, asObject, asString, isObject } from '../core/json.ts';
import { TIERS } from '../core/overlay.ts';
import { closestWord } from '../text/closest-word.ts';
import { isLoopbackHost } from './address.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { environmentProviders, LOCAL_PROVIDER_NAMES } from './known-providers.ts';
import { parseModelRef, policyName } from './model-ref.ts';
import { findRemoved, withoutRemoved } from './removed-settings.ts';
import { type Config, configSchema } from './schema.ts';
import { knownKeys, renderPath, settingAt } from './setting-path.ts';

export interface CheckedConfig {
  readonly config: Config;
  /** Where the providers were configured. */
  readonly source: 'file' | 'environment' | 'none';
  /** Remarks for the user; not problems. */
  readonly notes: readonly string[];
  /** Settings of the release before, which are ignored, with what holds in their place. */
  readonly warnings: readonly string[];
}

export interface CheckConfigOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The port from the command line, which replaces the configured one. */
  readonly port?: number;
}

/** Validates settings; without configured providers it uses those in the environment. Throws only `ConfigError`. */
export function checkConfig(written: unknown, options: CheckConfigOptions): CheckedConfig {
  const removed = findRemoved(written);
  const input = withoutRemoved(written, removed);
  const parsed = configSchema.safeParse(input);
  const ownPort = options.port ?? (parsed.success ? parsed.data.gateway.port : 4600);
  const named = Object.keys(asObject(asObject(input).providers));
  const found = named.length === 0 ? environmentProviders(options.env, ownPort) : undefined;
  const known = [
    ...(found ? Object.keys(found.providers) : named),
    ...LOCAL_PROVIDER_NAMES.filter((name) => !named.includes(name)),
  ];
  const policy = parsed.success ? policyName(parsed.data.train) : undefined;
  const problems: Problem[] = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => describeIssue(issue, input)),
    ...(found?.problems ?? []),
    ...unknownProviders(input, known, policy),
    ...routerProblems(input, known, policy),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const warnings = [...removed.map(({ warning }) => warning), ...googleWarnings(parsed.data)];
  if (!found) return { config: parsed.data, source: 'file', notes: [], warnings };
  const { providers, defaultRef, notes } = found;
  const models =
    defaultRef === undefined ? parsed.data.models : { default: defaultRef, ...parsed.data.models };
  const source = Object.keys(providers).length > 0 ? 'environment' : 'none';
  return { config: { ...parsed.data, providers, models }, source, notes, warnings };
}

/** A calendar by its id needed an OAuth client of the user's own. */
const googleWarnings = ({ schedule: { calendar } }: Config): readonly string[] =>
  calendar?.clientId !== undefined || (calendar?.google !== undefined && !calendar.google.includes('://'))
    ? [
        'schedule.calendar.google: the calendar is not read: set schedule.calendar to { "ics": "https://…" }, the secret address in iCal format that its settings show',
      ]
    : [];

/** Checks the raw input, so that aliases are checked even when other settings are invalid. */
function unknownProviders(
  input: unknown,
  providers: readonly string[],
  policy: string | undefined,
): readonly Problem[] {
  return Object.entries(asObject(asObject(input).models)).flatMap(([alias, value]) => {
    const single = !Array.isArray(value);
    return (single ? [value] : asArray(value)).flatMap((member, index): readonly Problem[] => {
      const path = renderPath(single ? ['models', alias] : ['models', alias, index]);
      if (member === 'off' && alias !== 'evolver' && alias !== 'judge')
        return [{ path, what: 'cannot be "off"', fix: 'only models.evolver and models.judge can' }];
      return isObject(member) ? [] : checkModelRef(path, asString(member) ?? '', providers, policy);
    });
  });
}

function checkModelRef(
  path: string,
  text: string,
  providers: readonly string[],
  policy: string | undefined,
): readonly Problem[] {
  const ref = parseModelRef(text);
  if (ref === undefined || providers.includes(ref.provider)) return [];
  if (ref.provider === 'instar') {
    if (ref.model === policy) return [];
    const fix = policy === undefined ? 'set train.engine to "nano"' : `write "instar/${policy}"`;
    return [{ path, what: 'names a policy that is not trained here', fix }];
  }
  const meant = closestWord(ref.provider, providers);
  return [
    {
      path,
      what: `names a provider that is not configured (${JSON.stringify(ref.provider.slice(0, 64))})`,
      fix: meant === undefined ? 'add it under "providers"' : didYouMean(meant),
    },
  ];
}

/** The models of the router. A caller's own credential belongs to one provider: it is never sent to the other one. */
function routerProblems(
  input: unknown,
  providers: readonly string[],
  policy: string | undefined,
): readonly Problem[] {
  const router = asObject(asObject(input).router);
  const tiers = TIERS.map((tier) => ({
    path: renderPath(['router', tier]),
    text: asString(router[tier]) ?? '',
  }));
  const unknown = tiers.flatMap(({ path, text }) => checkModelRef(path, text, providers, policy));
  const names = tiers.map(({ text }) => parseModelRef(text)?.provider);
  if (unknown.length > 0 || names[0] === names[1]) return unknown;
  return tiers.flatMap(({ path }, index): readonly Problem[] => {
    const entry = asObject(asObject(asObject(input).providers)[names[index] ?? '']);
    const url = asString(entry.baseUrl);
    if (url === undefined || entry.keyEnv !== undefined || entry.keyFile !== undefined) return [];
    if (!URL.canParse(url) || isLoopbackHost(new URL(url).hostname)) return [];
    const what = `is of another provider than the other tier, and ${names[index]} is called with the callers' own credentials`;
    return [{ path, what, fix: `give providers.${names[index]} a keyEnv or a keyFile` }];
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

/** A schema issue as a problem with path, description and fix. Values are never repeated: they may be secrets. */
function describeIssue(issue: Issue, input: unknown, base: Path = []): readonly Problem[] {
  const path = [...base, ...issue.path];
  const at = renderPath(path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => describeUnknownKey(path, key));
    case 'invalid_union':
      if (issue.errors.length === 0) return [{ path: at, what: issue.message }];
      return nearestBranch(issue.errors).flatMap((inner) => describeIssue(inner, input, path));
    case 'invalid_key':
      return issue.issues.map((inner) => ({ path: at, what: inner.message }));
    case 'invalid_type':
      return [
        settingAt(input, path) === undefined
          ? { path: at, what: 'is missing', fix: `set it to ${KINDS[issue.expected] ?? issue.expected}` }
          : { path: at, what: `must be ${KINDS[issue.expected] ?? issue.expected}` },
      ];
    case 'invalid_value': {
      if (!issue.message.startsWith('Invalid ')) return [{ path: at, what: issue.message }];
      const values = issue.values.map(String);
      const given = asString(settingAt(input, path));
      const meant = given === undefined ? undefined : closestWord(given, values);
      const what = `must be ${values.map((value) => JSON.stringify(value)).join(' or ')}`;
      return [{ path: at, what, ...(meant !== undefined && { fix: didYouMean(meant) }) }];
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
      const fix = asString(issue.params?.fix);
      return [{ path: at, what: issue.message, ...(fix !== undefined && { fix }) }];
    }
    default:
      return [{ path: at, what: issue.message }];
  }
}

const didYouMean = (word: string): string => `did you mean ${JSON.stringify(word)}?`;

function describeUnknownKey(path: Path, key: string): Problem {
  const at = renderPath([...path, key]);
  if (path[0] === 'providers' && path.length === 2 && KEY_LIKE.test(key)) {
    return {
      path: at,
      what: 'API keys are not allowed in this file: it is copied, shown and backed up',
      fix: 'put the key in an environment variable and name it with "keyEnv", or in a file and name it with "keyFile"',
    };
  }
  const meant = closestWord(key, knownKeys(path));
  return {
    path: at,
    what: 'is not a setting',
    fix: meant === undefined ? 'remove it' : didYouMean(meant),
  };
}

/** The union branch that was probably intended: one of the right type first, then one with a list of values. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const misfit = (branch: readonly Issue[]): number => {
    const atRoot = branch.filter((issue) => issue.path.length === 0).map((issue) => issue.code);
    return atRoot.includes('invalid_type') ? 2 : atRoot.includes('invalid_value') ? 1 : 0;
  };
  return branches.toSorted((a, b) => misfit(a) - misfit(b))[0] ?? [];
}
