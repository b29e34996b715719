import { ConfigError } from '../config/config-error.ts';
import { applyConfirmed, type WaitingSetting } from '../config/confirmed-settings.ts';
import type { Home } from '../config/home.ts';
import type { LiveSettings, ReloadReport } from '../config/live-settings.ts';
import type { LoadOptions } from '../config/load-config.ts';
import { hasOwnKey, keyFileOf, readProviderKey } from '../config/provider-entry.ts';
import type { Config } from '../config/schema.ts';
import type { KeysApi } from '../core/daemon-api.ts';
import { compact, type JsonObject } from '../core/json.ts';

interface LoadedSettings {
  /** With every unconfirmed loosening taken back. */
  readonly config: Config;
  readonly waiting: readonly WaitingSetting[];
  readonly notes: readonly string[];
  /** Settings that do nothing yet. */
  readonly warnings: readonly string[];
}

/** Reads and checks everything that can be wrong with settings. Rejects with `ConfigError`, with every problem at once. */
export async function loadSettings(options: LoadOptions, home: Home): Promise<LoadedSettings> {
  // Loaded on demand, like all that needs the schema: most commands do not.
  const { loadConfig } = await import('../config/load-config.ts');
  const { config, notes, warnings } = loadConfig(options);
  await checkVerifierRows(config);
  return { ...applyConfirmed(config, home), notes, warnings };
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

type SettingsApi = Pick<KeysApi, 'settings' | 'setSetting' | 'reload'>;

/** The settings of a home: those of the daemon that runs it, or without one those of its config file. */
export function createSettingsApi(home: Home, env: NodeJS.ProcessEnv, live?: LiveSettings): SettingsApi {
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
  return {
    settings: async () => {
      const { describeSettings, encodeSettings } = await import('../config/describe-settings.ts');
      return encodeSettings(
        describeSettings({ file, env, ...(live === undefined ? {} : { running: live.config }) }),
      );
    },
    setSetting: async (request) => {
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
