import { ConfigError } from '../config/config-error.ts';
import { applyConfirmed, type WaitingSetting } from '../config/confirmed-settings.ts';
import type { Home } from '../config/home.ts';
import type { LiveSettings, ReloadReport } from '../config/live-settings.ts';
import type { LoadOptions } from '../config/load-config.ts';
import { hasOwnKey, keyFileOf, readProviderKey } from '../config/provider-entry.ts';
import type { Config } from '../config/schema.ts';
import type { SharedUse } from '../config/shared-settings.ts';
import type { KeysApi } from '../core/daemon-api.ts';
import { asArray, asString, compact, type JsonObject } from '../core/json.ts';
import { NO_SHARED } from '../core/shared-setting.ts';
import type { Records } from '../core/store.ts';

interface LoadedSettings {
  /** With every unconfirmed loosening taken back. */
  readonly config: Config;
  readonly waiting: readonly WaitingSetting[];
  readonly notes: readonly string[];
  /** Settings that do nothing yet. */
  readonly warnings: readonly string[];
  /** What of the settings that gateways share is used here. */
  readonly shared: SharedUse;
}

/** Reads and checks everything that can be wrong with settings. Rejects with `ConfigError`, with every problem at once. */
export async function loadSettings(options: LoadOptions, home: Home): Promise<LoadedSettings> {
  // Loaded on demand, like all that needs the schema: most commands do not.
  const { loadConfig } = await import('../config/load-config.ts');
  const { config, notes, warnings, shared } = loadConfig(options);
  await checkVerifierRows(config);
  return { ...applyConfirmed(config, home), notes, warnings, shared };
}

/** The settings of a file as a process uses them that goes on running. Rejects with `ConfigError`. */
export async function openSettings(
  options: LoadOptions,
  home: Home,
): Promise<Omit<LoadedSettings, 'config' | 'shared'> & { readonly settings: LiveSettings }> {
  const { createLiveSettings } = await import('../config/live-settings.ts');
  const first = await loadSettings(options, home);
  let loaded = first;
  const load = async (shared: JsonObject): Promise<Config> => {
    loaded = await loadSettings({ ...options, shared }, home);
    return loaded.config;
  };
  const source = { file: options.file, load, waiting: () => loaded.waiting, shared: () => loaded.shared };
  const settings = createLiveSettings({ config: first.config, source });
  return { settings, waiting: first.waiting, notes: first.notes, warnings: first.warnings };
}

async function checkVerifierRows({ learn }: Config): Promise<void> {
  if (learn.verifiers.length === 0) return;
  const { checkVerifiers } = await import('../evidence/verifiers/registry.ts');
  try {
    await checkVerifiers(learn.verifiers);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'VerifierError') throw error;
    throw new ConfigError([{ path: `learn.${error.message.split(': ', 1)[0]}`, what: rest(error.message) }]);
  }
}

const rest = (message: string): string => message.slice(message.indexOf(': ') + 2);

/** Where the settings are that gateways share. */
interface SettingsRecord {
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly now: () => number;
}

type SettingsApi = Pick<KeysApi, 'settings' | 'setSetting' | 'reload'>;

/** The settings of a home: those of the daemon that runs it, or without one those of its config file. */
export function createSettingsApi(
  home: Home,
  env: NodeJS.ProcessEnv,
  record: SettingsRecord,
  live?: LiveSettings,
): SettingsApi {
  const file = live?.file ?? home.configFile;
  const reload = async (): Promise<JsonObject> => {
    if (live === undefined) return { running: false, file, ...NOTHING };
    const report = await live.reload();
    return {
      running: true,
      file,
      ...encode(report),
      warnings: [...missingKeys(report, live.config, env, home)],
    };
  };
  const setShared = async (request: JsonObject): Promise<JsonObject> => {
    const { readSettingPath } = await import('../config/edit-config.ts');
    const { readSharedSettings } = await import('../config/follow-shared-settings.ts');
    const { readConfigFile } = await import('../config/load-config.ts');
    const { editShared } = await import('../config/shared-settings.ts');
    const { parseSettingPath, settingAt } = await import('../config/setting-path.ts');
    const { document } = await readSharedSettings(record.records);
    const given = asString(request.path) ?? renderKeys(request.path);
    const named = parseSettingPath(given);
    // What a newer version shared can be removed here, too.
    const isKept = request.unset === true && named !== undefined && settingAt(document, named) !== undefined;
    const path = isKept ? named : readSettingPath(given);
    const value = request.unset === true ? undefined : request.value;
    if (value === undefined && request.unset !== true)
      throw new ConfigError([{ path: 'value', what: 'is missing', fix: 'send value, or unset: true' }]);
    const edit = value === undefined ? { path } : { path, value };
    const { isSame } = editShared(document, edit, readConfigFile(file) ?? {}, { env });
    if (!isSame) {
      const fact = { type: 'settings-changed' as const, ...edit, path: path.map(String) };
      await record.records.append([{ at: record.now(), fact }]);
    }
    const report = await live?.share(await readSharedSettings(record.records));
    return { running: live !== undefined, file, ...encode(report ?? NOTHING), isSame };
  };
  return {
    settings: async () => {
      const { describeSettings, encodeSettings } = await import('../config/describe-settings.ts');
      const { readSharedSettings } = await import('../config/follow-shared-settings.ts');
      // Without the record, what this gateway uses of it is in its settings in force.
      const shared = await readSharedSettings(record.records).catch(() => NO_SHARED);
      const running = live === undefined ? {} : { running: live.config };
      return encodeSettings(describeSettings({ file, env, shared: shared.document, ...running }));
    },
    setSetting: async (request) => {
      if (request.shared === true) return setShared(request);
      const { editConfig, readSettingEdit, writeConfigText } = await import('../config/edit-config.ts');
      const edit = readSettingEdit(request, file);
      const { text, checked, isSame } = editConfig(file, [edit], env);
      await checkVerifierRows(checked.config);
      const written = isSame ? { file } : writeConfigText(file, text);
      return compact({ ...(await reload()), ...written, isSame });
    },
    reload,
  };
}

/** Keys as the text of a path. */
const renderKeys = (keys: unknown): string =>
  asArray(keys)
    .map((key) => (typeof key === 'number' ? `[${key}]` : `[${JSON.stringify(key)}]`))
    .join('');

const NOTHING: ReloadReport = { applied: [], restart: [], unchanged: true };

const encode = ({ applied, restart, unchanged }: ReloadReport): JsonObject => ({
  applied,
  restart,
  unchanged,
});

/** The changed providers whose key this process cannot read: the person's shell may have it, the daemon has not. */
function missingKeys(
  { applied }: ReloadReport,
  { providers }: Config,
  env: NodeJS.ProcessEnv,
  home: Home,
): readonly string[] {
  return Object.entries(providers).flatMap(([name, entry]) => {
    const isChanged = applied.some((path) => `${path}.`.startsWith(`providers.${name}.`));
    if (!isChanged || !hasOwnKey(entry) || readProviderKey(entry, { env, homeDir: home.dir })) return [];
    return entry.keyEnv === undefined
      ? [`${name} has no key yet: ${keyFileOf(entry, home.dir)} is missing or empty`]
      : [
          `${name} has no key yet: ${entry.keyEnv} is not set where the daemon was started. Start it again where it is set, or put the key in a file and name that with providers.${name}.keyFile`,
        ];
  });
}
