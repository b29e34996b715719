import { isDeepStrictEqual } from 'node:util';
import { asObject, isObject, type Json, type JsonObject } from '../core/json.ts';
import { withSetting } from '../core/shared-setting.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { type CheckConfigOptions, type CheckedConfig, checkConfig } from './check-config.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { leafPaths, renderPath, type SettingPath, settingAt } from './setting-path.ts';

/** What the gateways of a record may share: what is about learning, and the same on every machine. */
const SHARED: readonly string[] = [
  'library',
  'learn',
  'practice',
  'schedule',
  'router',
  'store.keepDays',
] as const;

/** What is not shared although its group is, and why. */
const OWN: Readonly<Record<string, string>> = {
  'learn.verifiers': 'names programs and files of one machine',
  'practice.agent': 'names a program of one machine',
  'practice.tasks': 'names files of one machine',
  'schedule.calendar': 'has an address that is a secret',
};

/** What one gateway makes of the shared settings; each path is in one of the lists. */
export interface SharedUse {
  readonly used: readonly string[];
  /** The gateway's own file names these, and wins. */
  readonly overruled: readonly string[];
  /** These cannot be used here, for example because they come from a newer version. */
  readonly ignored: readonly { readonly path: string; readonly why: string }[];
}

/**
 * The settings of a file, with the shared ones where the file names none. A shared value that is no valid setting here is
 * left out: it must not keep a gateway from starting. Throws `ConfigError` for the file itself.
 */
export function checkWithShared(
  input: unknown,
  document: JsonObject,
  options: CheckConfigOptions,
): CheckedConfig & { readonly shared: SharedUse } {
  const paths = leafPaths(document).filter((path) => path.length > 0);
  const overruled = paths.filter((path) => isNamed(input, path));
  const ignored = new Map<SettingPath, string>();
  for (const path of paths) {
    const why = whyNotShared(path);
    if (why !== undefined) ignored.set(path, why);
  }
  for (;;) {
    const used = paths.filter((path) => !overruled.includes(path) && !ignored.has(path));
    try {
      const merged = used.length === 0 ? input : withShared(input, document, used);
      const shared = {
        used: used.map(renderPath),
        overruled: overruled.filter((path) => !ignored.has(path)).map(renderPath),
        ignored: [...ignored].map(([path, why]) => ({ path: renderPath(path), why })),
      };
      return { ...checkConfig(merged, options), shared };
    } catch (error) {
      if (!(error instanceof ConfigError) || used.length === 0) throw error;
      for (const [path, why] of blame(error.problems, used)) ignored.set(path, why);
    }
  }
}

/** Whether the file says something about this setting, or about a group as a whole that it is in. */
function isNamed(input: unknown, path: SettingPath): boolean {
  const above = path.map((_, index) => settingAt(input, path.slice(0, index + 1)));
  return above.at(-1) !== undefined || above.some((value) => value !== undefined && !isObject(value));
}

const withShared = (input: unknown, document: JsonObject, paths: readonly SettingPath[]): JsonObject =>
  paths.reduce<JsonObject>(
    (so, path) => withSetting(so, path.map(String), settingAt(document, path) as Json),
    asObject(input),
  );

/** The shared settings that are the likely cause: those that a problem names, else those of its section, else all. */
function blame(problems: readonly Problem[], used: readonly SettingPath[]): ReadonlyMap<SettingPath, string> {
  const related = (isMeant: (problem: Problem, path: SettingPath) => boolean) =>
    used.flatMap((path) => {
      const problem = problems.find((one) => isMeant(one, path));
      return problem === undefined ? [] : [[path, describeProblem(problem, path)] as const];
    });
  const direct = related(
    (problem, path) => isBelow(problem.path, path) || isBelow(renderPath(path), problem),
  );
  if (direct.length > 0) return new Map(direct);
  const near = related((problem, path) => problem.path.split(/[.[]/, 1)[0] === path[0]);
  return new Map(near.length > 0 ? near : related(() => true));
}

function isBelow(name: string, group: SettingPath | Problem): boolean {
  const above = 'what' in group ? group.path : renderPath(group);
  return name === above || name.startsWith(`${above}.`) || name.startsWith(`${above}[`);
}

const describeProblem = ({ path, what, fix }: Problem, shared: SettingPath): string =>
  `${path === renderPath(shared) ? '' : `${path} `}${what}${fix === undefined ? '' : ` (${fix})`}`;

/** Why gateways do not share this setting; undefined when they may. */
function whyNotShared(path: SettingPath): string | undefined {
  const name = path.join('.');
  const covers = (group: string): boolean => name === group || name.startsWith(`${group}.`);
  const own = Object.keys(OWN).find(covers);
  if (own !== undefined) return `${OWN[own]}, so each gateway has its own`;
  return SHARED.some(covers) ? undefined : 'is of each gateway alone';
}

/**
 * The shared settings after an edit; a value that is an object is set member by member. Throws `ConfigError` for what cannot
 * be shared, and for what would be no valid setting on this gateway.
 */
export function editShared(
  document: JsonObject,
  { path, value }: { readonly path: SettingPath; readonly value?: Json },
  input: unknown,
  options: CheckConfigOptions,
): { readonly document: JsonObject; readonly isSame: boolean } {
  const name = renderPath(path);
  if (path.some((key) => typeof key === 'number'))
    throw new ConfigError([
      { path: name, what: 'is a member of a list', fix: 'set the list as a whole, as JSON' },
    ]);
  const keys = path.map(String);
  const after = withSetting(document, keys, value);
  const isSame = isDeepStrictEqual(after, document);
  if (value === undefined || isSame) return { document: after, isSame };
  const paths = leafPaths(value, path);
  const refused = paths.flatMap((one): readonly Problem[] => {
    const why = whyNotShared(one);
    if (why === undefined) return [];
    const fix = `set it on each gateway, without --shared; these can be shared: ${SHARED.join(', ')}`;
    return [{ path: renderPath(one), what: why, fix }];
  });
  if (refused.length > 0) throw new ConfigError(refused);
  if (!isDeepStrictEqual(openRedactor().redactJson(value), value))
    throw new ConfigError([
      {
        path: name,
        what: 'has a secret in it, and shared settings are in the record',
        fix: 'set it on each gateway, without --shared',
      },
    ]);
  // As if the file named none of it: the value is checked even where the file of this gateway overrules it.
  const rest = paths.reduce<JsonObject>(
    (so, one) => withSetting(so, one.map(String), undefined),
    asObject(input),
  );
  const { ignored } = checkWithShared(rest, after, options).shared;
  const faulty = ignored.filter((one) => paths.some((set) => renderPath(set) === one.path));
  if (faulty.length > 0)
    throw new ConfigError([
      ...faulty.map((one) => ({ path: one.path, what: one.why })),
      { path: name, what: 'was not changed' },
    ]);
  return { document: after, isSame };
}
