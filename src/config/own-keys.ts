import type { Home } from './home.ts';
import { readKey } from './key.ts';
import type { LiveSettings } from './live-settings.ts';
import { readOwnerKey } from './owner-key.ts';
import { readProviderKey } from './provider-entry.ts';
import type { Config } from './schema.ts';
import { passwordIn } from './store-url.ts';
import { traceSecrets } from './trace-headers.ts';

interface KeyPlaces {
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
}

/** The current keys of providers, of the training engine, of the server of its weights and of the receivers of traces and alerts. */
export function readModelKeys(
  {
    providers,
    train: { engine, serve },
    store,
    traces,
    log,
  }: Pick<Config, 'providers' | 'train' | 'store' | 'traces' | 'log'>,
  { env, home }: KeyPlaces,
): readonly string[] {
  const named = [
    typeof engine === 'string' ? undefined : engine.keyEnv,
    serve?.keyEnv,
    log.alerts?.secretEnv,
  ];
  return [
    ...Object.values(providers).flatMap((entry) => readProviderKey(entry, { env, homeDir: home.dir }) ?? []),
    ...named.flatMap((name) => (name === undefined ? [] : (env[name] ?? []))),
    ...passwordIn(store.url),
    ...traceSecrets(traces, env),
  ];
}

/** The keys of the settings in force, and of those before them: texts under way may still contain one. */
export function withFormerKeys(
  { config, onChange }: Pick<LiveSettings, 'config' | 'onChange'>,
  read: (settings: Config) => readonly string[],
): () => readonly string[] {
  const former = new Set<string>();
  onChange(async ({ before }) => {
    for (const key of read(before)) former.add(key);
  });
  return () => [...new Set([...former, ...read(config)])];
}

const READ_MS = 5_000;

/** The same keys, read every few seconds: files may change, and no request waits for a file. */
export function followKeys(
  settings: Pick<LiveSettings, 'config' | 'onChange'>,
  read: (settings: Config) => readonly string[],
): { readonly keys: () => readonly string[]; close(): void } {
  const readAll = withFormerKeys(settings, read);
  let keys = readAll();
  const look = (): void => {
    keys = readAll();
  };
  settings.onChange(async () => look());
  const timer = setInterval(look, READ_MS);
  timer.unref();
  return { keys: () => keys, close: () => clearInterval(timer) };
}

/** Every secret of this installation that can be read now: logs and messages must not contain one of them. Never throws. */
export function readOwnKeys(config: Config | undefined, places: KeyPlaces): readonly string[] {
  const { INSTAR_KEY, INSTAR_OWNER_KEY } = places.env;
  const given = [INSTAR_KEY, INSTAR_OWNER_KEY].flatMap((key) => key?.trim() || []);
  try {
    const own = [
      readKey(places.home, places.env)?.key ?? [],
      readOwnerKey(places.home, places.env)?.key ?? [],
    ];
    return [...given, ...own.flat(), ...(config === undefined ? [] : readModelKeys(config, places))];
  } catch {
    // An unreadable key file: the command that uses the key says so.
    return given;
  }
}
