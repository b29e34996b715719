import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../core/json.ts';
import type { Config } from './schema.ts';
import type { SettingPath } from './setting-path.ts';

/** When a changed setting takes effect while Instar runs. What is running finishes under the old value. */
export type EffectTime = 'now' | 'for new sessions' | 'from the next training window' | 'at the next start';

const NOW = 'now';
const SESSION = 'for new sessions';
const WINDOW = 'from the next training window';
const START = 'at the next start';

/** Every setting, or the group it is in, with the time of its effect. The longest entry that begins a path counts. */
const RULES: Readonly<Record<string, EffectTime>> = {
  $schema: NOW,
  // The address is bound once, and clients are connected to it.
  'gateway.port': START,
  'gateway.host': START,
  'gateway.allowedHosts': NOW,
  'gateway.trustedProxy': START,
  'gateway.forward': NOW,
  'gateway.flows': NOW,
  providers: NOW,
  models: NOW,
  router: NOW,
  // A session keeps the block of lessons that it began with.
  'library.topK': SESSION,
  'library.tokenBudget': SESSION,
  'library.place': SESSION,
  'library.domains': SESSION,
  'library.autonomy': NOW,
  'library.shareAgents': SESSION,
  'learn.failures': NOW,
  'learn.maxNewSkills': NOW,
  'learn.flush': NOW,
  'learn.verifiers': NOW,
  'learn.compress': SESSION,
  'learn.identity': NOW,
  'learn.budget': NOW,
  practice: NOW,
  schedule: NOW,
  // The engine is a process with loaded weights, and a served policy has its name.
  'train.engine': START,
  'train.serve': START,
  'train.amount': WINDOW,
  'train.learningRate': WINDOW,
  // A running window asks before every step.
  'train.live': NOW,
  'train.effect': WINDOW,
  // The record is open.
  'store.url': START,
  'store.keepDays': NOW,
  'store.snapshots': NOW,
  traces: NOW,
  'log.level': NOW,
  'log.alerts': NOW,
};

/** Undefined for a path that no rule covers. */
export function effectTimeOf(path: SettingPath): EffectTime | undefined {
  for (let length = path.length; length > 0; length--) {
    const rule = RULES[path.slice(0, length).join('.')];
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** The entries of the table, so that a test can compare them with the schema. */
export const reloadRulePaths = (): readonly string[] => Object.keys(RULES);

/** The paths whose values differ. Lists are compared as a whole, and so is a value that is an object on one side only. */
export function changedPaths(
  before: unknown,
  after: unknown,
  path: SettingPath = [],
): readonly SettingPath[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedPaths(before[key], after[key], [...path, key]));
}

interface SettingsChange {
  /** The settings to use now: the new ones, but for those that need a start. */
  readonly config: Config;
  readonly applied: readonly SettingPath[];
  readonly restart: readonly SettingPath[];
}

/** What of `asked` can be used at once in place of `running`. */
export function planReload(running: Config, asked: Config): SettingsChange {
  const changed = changedPaths(running, asked).filter(([section]) => section !== '$schema');
  const restart = changed.filter((path) => (effectTimeOf(path) ?? START) === START);
  const config = structuredClone(asked);
  for (const path of restart) copyMember(running, config, path);
  return { config, applied: changed.filter((path) => !restart.includes(path)), restart };
}

/** Sets or removes the member of `to` as it is in `from`. Objects above it exist in both: only their members differ. */
function copyMember(from: object, to: object, path: SettingPath): void {
  const [key = '', ...rest] = path;
  const [source, target] = [from, to] as Record<PropertyKey, unknown>[];
  const [next, place] = [source?.[key], target?.[key]];
  if (rest.length > 0) {
    if (isObject(next) && isObject(place)) copyMember(next, place, rest);
  } else if (target !== undefined) {
    if (next === undefined) delete target[key];
    else target[key] = next;
  }
}
