import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../base/log.ts';
import { errorMessage } from '../core/failure.ts';
import { asObject, compact, type JsonObject, toJson } from '../core/json.ts';
import { NO_SHARED, type SharedSettings } from '../core/shared-setting.ts';
import { fileStamp } from './caller-keys.ts';
import { ConfigError } from './config-error.ts';
import type { WaitingSetting } from './confirmed-settings.ts';
import { planReload } from './reload-rules.ts';
import { type Config, configSchema } from './schema.ts';
import { renderPath } from './setting-path.ts';
import { describeRestart, KEPT_SETTINGS } from './settings-state.ts';
import type { SharedUse } from './shared-settings.ts';

/** The settings in force, which can change while Instar runs. */
export interface LiveSettings {
  /**
   * The settings as one object. A member of a section (`config.library.topK`) has the value in force when it is read, so
   * whoever keeps a section follows every change, and whoever keeps a value keeps the old one.
   */
  readonly config: Config;
  /** Called after every change, in the order of subscription; `reload` waits for what it returns. */
  onChange(listener: SettingsListener): void;
  /**
   * Reads the config file again and uses what can be used without a restart. Rejects with `ConfigError` for an invalid
   * file: the settings in force stay.
   */
  reload(): Promise<ReloadReport>;
  /** Uses what the gateways of the record share, unless something newer is in use; the file is read again with it. */
  share(shared: SharedSettings): Promise<ReloadReport>;
  /** For `status`: `{ file?, problem?, restart, waiting, shared? }`; see `describeSettingsState`. */
  describe(): JsonObject;
  /** The file that `reload` reads; undefined when the settings came from the program that started the daemon. */
  readonly file: string | undefined;
}

type SettingsListener = (change: {
  readonly before: Config;
  /** The paths of the settings that have changed. */
  readonly applied: readonly string[];
}) => Promise<void>;

export interface ReloadReport {
  /** The paths of settings that have changed. */
  readonly applied: readonly string[];
  /** The paths of settings that change at the next start. */
  readonly restart: readonly string[];
  /** Whether the file asks for nothing but what is in force. */
  readonly unchanged: boolean;
}

interface LiveSettingsOptions {
  /** The settings to begin with. */
  readonly config: Config;
  /** Reads and checks the settings; absent when they cannot change. Rejects with `ConfigError`. */
  readonly source?: {
    readonly file: string;
    readonly load: (shared: JsonObject) => Promise<Config>;
    /** Of the file as it was last loaded. */
    readonly waiting?: () => readonly WaitingSetting[];
    readonly shared?: () => SharedUse | undefined;
  };
}

export function createLiveSettings({ config: first, source }: LiveSettingsOptions): LiveSettings {
  let current = first;
  let shared = NO_SHARED;
  let restart: readonly string[] = [];
  let problem: string | undefined;
  const listeners: SettingsListener[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  const change = async (): Promise<ReloadReport> => {
    if (source === undefined)
      throw new ConfigError([
        { path: 'settings', what: 'come from the program that started Instar', fix: 'change them there' },
      ]);
    const planned = planReload(current, await source.load(shared.document));
    const applied = planned.applied.map(renderPath);
    restart = planned.restart.map(renderPath);
    if (applied.length > 0) {
      const before = current;
      current = planned.config;
      for (const listener of listeners) await listener({ before, applied });
    }
    return { applied, restart, unchanged: applied.length + restart.length === 0 };
  };

  const reload = (): Promise<ReloadReport> => {
    const done = queue.then(change).then(
      (report) => {
        problem = undefined;
        return report;
      },
      (error: unknown) => {
        problem = errorMessage(error);
        throw error;
      },
    );
    queue = done.catch(() => undefined);
    return done;
  };
  return {
    config: createView(() => current),
    file: source?.file,
    onChange: (listener) => void listeners.push(listener),
    reload,
    share: async (next) => {
      const isNew = next.seq >= shared.seq && !isDeepStrictEqual(next.document, shared.document);
      if (source === undefined || !isNew) return { applied: [], restart, unchanged: true };
      shared = next;
      return reload();
    },
    describe: () => {
      const waiting = (source?.waiting?.() ?? []).map((setting) => ({ ...setting }));
      const use = source?.shared?.();
      const isShared = Object.keys(shared.document).length > 0 && use !== undefined;
      return compact({
        file: source?.file,
        problem,
        restart,
        waiting,
        shared: isShared ? toJson(use) : undefined,
      });
    },
  };
}

const SECTIONS = [
  'gateway',
  'library',
  'learn',
  'practice',
  'schedule',
  'train',
  'store',
  'traces',
  'log',
] as const;

/** Getters down to the members of the sections; what is below them is replaced as a whole. */
function createView(current: () => Config): Config {
  const sections = SECTIONS.map((section) => [
    section,
    {
      value: viewOf(Object.keys(configSchema.shape[section].unwrap().shape), () =>
        asObject(current()[section]),
      ),
      enumerable: true,
    },
  ]);
  const names = { get: () => current().providers, enumerable: true };
  const aliases = { get: () => current().models, enumerable: true };
  const router = { get: () => current().router, enumerable: true };
  return Object.defineProperties({}, {
    ...Object.fromEntries(sections),
    providers: names,
    models: aliases,
    router,
  } as PropertyDescriptorMap) as Config;
}

const viewOf = (keys: readonly string[], section: () => JsonObject): object =>
  Object.defineProperties(
    {},
    Object.fromEntries(keys.map((key) => [key, { get: () => section()[key], enumerable: true }])),
  );

interface FollowOptions {
  readonly settings: LiveSettings;
  /** The files whose change means that the settings are to be read again. */
  readonly files: readonly string[];
  readonly log: Log;
  /** The pause between two looks. */
  readonly everyMs?: number;
}

/** Long enough for an editor to have written the whole file, short enough not to wonder. */
const LOOK_MS = 750;
/** While nothing changes, the pause is this many times as long: an idle process sleeps. */
const REST = 4;

/**
 * Reloads when a file has changed and has stayed the same for one look: a half-written file is not read. Looking works for
 * files that are replaced, on every file system. The result reloads at once, for a signal.
 */
export function followSettings({ settings, files, log, everyMs = LOOK_MS }: FollowOptions): {
  reloadNow(): Promise<void>;
  close(): void;
} {
  const stampNow = (): string => files.map(fileStamp).join('|');
  let read = stampNow();
  let seen = read;
  let told: string | undefined;
  const reloadNow = async (): Promise<void> => {
    read = stampNow();
    seen = read;
    try {
      const { restart } = await settings.reload();
      const what = restart.length > 0 ? describeRestart(restart) : undefined;
      if (what !== undefined && what !== told) log.warn(what);
      told = what;
    } catch (error) {
      const what = errorMessage(error).replace(/\n\s*/g, ' ');
      if (what !== told) log.warn(`${KEPT_SETTINGS}: ${what}. See: instar config check`);
      told = what;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = stampNow();
    const isChanging = now !== seen;
    if (now !== read && !isChanging) void reloadNow();
    seen = now;
    lookIn(isChanging ? everyMs : REST * everyMs);
  };
  const lookIn = (ms: number): void => {
    timer = setTimeout(look, ms);
    timer.unref();
  };
  lookIn(REST * everyMs);
  return { reloadNow, close: () => clearTimeout(timer) };
}
