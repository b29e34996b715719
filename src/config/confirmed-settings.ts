import { readFileSync } from 'node:fs';
import { replaceFileSync } from '../base/atomic-file.ts';
import { asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import { ConfigError } from './config-error.ts';
import type { Home } from './home.ts';
import type { Config } from './schema.ts';

/** A setting that was loosened in the config file and waits for the owner. */
export interface WaitingSetting {
  readonly path: string;
  readonly asked: string;
  /** The value in force meanwhile. */
  readonly used: string;
}

type Autonomy = Config['library']['autonomy'];
/** From strict to loose. A step to the left needs nobody's word. */
const AUTONOMY: readonly Autonomy[] = ['manual', 'guarded', 'autonomous'];
const AUTONOMY_PATH = 'library.autonomy';
const UNCONFIRMED: Autonomy = 'guarded';

/**
 * The config with every unconfirmed loosening taken back. Whatever can write the config file (an agent's own shell, for
 * example) can so not give itself more freedom unnoticed.
 */
export function applyConfirmed(
  config: Config,
  home: Home,
): { readonly config: Config; readonly waiting: readonly WaitingSetting[] } {
  const waiting = findWaiting(config.library.autonomy, home);
  if (waiting === undefined) return { config, waiting: [] };
  const { used } = waiting;
  return { config: { ...config, library: { ...config.library, autonomy: used } }, waiting: [waiting] };
}

function findWaiting(
  asked: Autonomy,
  home: Home,
): (WaitingSetting & { readonly used: Autonomy }) | undefined {
  const confirmed = AUTONOMY.find((one) => one === asString(read(home)[AUTONOMY_PATH])) ?? UNCONFIRMED;
  const used = AUTONOMY.indexOf(confirmed) < AUTONOMY.indexOf(UNCONFIRMED) ? UNCONFIRMED : confirmed;
  return AUTONOMY.indexOf(asked) <= AUTONOMY.indexOf(used) ? undefined : { path: AUTONOMY_PATH, asked, used };
}

/** The setting that an edit would loosen beyond what the owner has confirmed; undefined when it needs nobody's word. */
export function findLoosened(
  { path, value }: { readonly path: readonly (string | number)[]; readonly value?: unknown },
  home: Home,
): WaitingSetting | undefined {
  const asked = path.length === 1 && path[0] === 'library' ? asObject(value).autonomy : value;
  const isMeant = path.join('.') === AUTONOMY_PATH || path.join('.') === 'library';
  const autonomy = AUTONOMY.find((one) => isMeant && one === asked);
  return autonomy === undefined ? undefined : findWaiting(autonomy, home);
}

/** Records the owner's word. Throws `ConfigError` for a setting that needs none or a value that does not exist. */
export function confirmSettings(home: Home, settings: JsonObject, at: number): JsonObject {
  for (const [path, value] of Object.entries(settings)) {
    if (path !== AUTONOMY_PATH || !AUTONOMY.some((one) => one === value)) {
      const fix = `confirm ${AUTONOMY_PATH} with ${AUTONOMY.join(', ')}`;
      throw new ConfigError([{ path, what: 'is not a setting that needs confirmation', fix }]);
    }
  }
  const confirmed = { ...read(home), ...settings, confirmedAt: new Date(at).toISOString() };
  replaceFileSync(home.confirmedFile, `${JSON.stringify(confirmed, null, 2)}\n`);
  return confirmed;
}

function read(home: Home): JsonObject {
  try {
    return asObject(parseJson(readFileSync(home.confirmedFile, 'utf8')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new ConfigError([
      { path: home.confirmedFile, what: `cannot be read (${code ?? 'unknown error'})` },
    ]);
  }
}
