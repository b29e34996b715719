import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { sendsKeyInClear } from '../config/address.ts';
import { parseModelRef } from '../config/model-ref.ts';
import { hasOwnKey, keyFileOf, readProviderKey } from '../config/provider-entry.ts';
import type { Config, ProviderEntry } from '../config/schema.ts';
import { TIERS } from '../core/overlay.ts';
import type { Exchange } from '../core/upstream.ts';
import { discoverLocal, type LocalProvider, localServerAddresses } from '../models/discover-local.ts';
import { plural } from '../text/phrases.ts';
import { checkLearners } from './check-prices.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';
import { probeProvider } from './probe-provider.ts';

interface ModelChecks {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly exchange: Exchange;
}

/** The models of each provider and local server; undefined when it gave no list. */
type Lists = ReadonlyMap<string, readonly string[] | undefined>;

/** Checks every provider, local server and alias, all at the same time. */
export async function checkModels(options: ModelChecks): Promise<readonly DoctorCheck[]> {
  const { config, env, exchange } = options;
  const lists = new Map<string, readonly string[] | undefined>();
  const [local, ...providers] = await Promise.all([
    findLocalServers(exchange, env),
    ...Object.entries(config.providers).map(([name, entry]) => checkProvider(options, name, entry)),
  ]);
  for (const { name, models } of local) lists.set(name, models);
  for (const { name, models } of providers) lists.set(name, models);
  return [
    ...providers.flatMap(({ checks }) => checks),
    ...checkAny(options, local.length),
    ...Object.entries(config.models).flatMap(([alias, value]) => checkAlias(alias, value, lists, env)),
    ...TIERS.flatMap((tier) =>
      config.router === undefined ? [] : checkAlias(`router.${tier}`, config.router[tier], lists, env),
    ),
    ...checkLearners(config, env, local),
    ...['ollama', 'lmstudio'].map((name) => {
      const found = local.find((server) => server.name === name);
      return passed(
        name,
        found ? `${found.baseUrl}, ${plural(found.models.length, 'model')}` : 'not running (not needed)',
      );
    }),
    ...['claude', 'codex'].map((name) =>
      passed(name, findCommand(name, env) ?? 'not installed (not needed)'),
    ),
  ];
}

async function checkProvider({ env, homeDir, exchange }: ModelChecks, name: string, entry: ProviderEntry) {
  const key = readProviderKey(entry, { env, homeDir });
  if (hasOwnKey(entry) && key === undefined) {
    const where = entry.keyEnv ?? keyFileOf(entry, homeDir);
    const fix = entry.keyEnv === undefined ? `put the key in ${where}` : `export ${where}=… and restart`;
    return {
      name,
      models: undefined,
      checks: [warned(`provider ${name}`, `${where} is not set or empty`, fix)],
    };
  }
  const probe = await probeProvider(exchange, name, entry, key);
  return {
    name,
    models: probe.models,
    checks: [probe.check, ...checkKeyFile(name, keyFileOf(entry, homeDir)), ...checkPlainHttp(name, entry)],
  };
}

function checkKeyFile(name: string, file: string | undefined): readonly DoctorCheck[] {
  const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || process.platform === 'win32' || (stats.mode & 0o077) === 0) return [];
  return [warned(`provider ${name}`, `${file} is readable by others`, `chmod 600 ${file}`)];
}

function checkPlainHttp(name: string, entry: ProviderEntry): readonly DoctorCheck[] {
  if (!sendsKeyInClear(entry.baseUrl, true)) return [];
  return [warned(`provider ${name}`, "callers' own keys would be sent over plain http", 'use https')];
}

function checkAny({ config }: ModelChecks, localCount: number): readonly DoctorCheck[] {
  if (Object.keys(config.providers).length > 0 || localCount > 0) return [];
  return [
    warned(
      'providers',
      'no provider yet: the toy model inside Instar answers',
      'run "instar init", or set a variable such as OPENAI_API_KEY',
    ),
  ];
}

function checkAlias(
  alias: string,
  value: Config['models'][string],
  lists: Lists,
  env: NodeJS.ProcessEnv,
): readonly DoctorCheck[] {
  const name = `models.${alias}`;
  if (typeof value === 'object' && 'command' in value) {
    const found = findCommand(value.command, env);
    return [
      found
        ? passed(name, `${value.command} at ${found}`)
        : failed(name, `${value.command} is not on the PATH`, `install it, or give "${alias}" another model`),
    ];
  }
  const refs = typeof value === 'string' ? [value] : value;
  return refs.map((text) => {
    if (text === 'off') return passed(name, 'off: no model is asked');
    const ref = parseModelRef(text);
    if (ref?.provider === 'instar' && !lists.has(ref.provider))
      return passed(name, `${text}: the policy that is trained here`);
    if (ref === undefined || !lists.has(ref.provider)) {
      return warned(name, `${text}: the local server is not running`, `start ${ref?.provider ?? 'it'}`);
    }
    const models = lists.get(ref.provider);
    return models === undefined || models.some((one) => one === ref.model || one === `models/${ref.model}`)
      ? passed(name, text)
      : warned(name, `${text} is not in the provider's list`, 'check the name; some models are not listed');
  });
}

/** The path of a command line tool on the PATH; undefined when it is missing. Runs nothing. */
function findCommand(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending}`)))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The addresses of model servers on this machine, running or not. */
export const localServers = (env: NodeJS.ProcessEnv): ReturnType<typeof localServerAddresses> =>
  localServerAddresses(env);

/** The running ones. Never rejects. */
export const findLocalServers = (
  exchange: Exchange,
  env: NodeJS.ProcessEnv,
): Promise<readonly LocalProvider[]> => discoverLocal({ exchange, env, timeoutMs: 1_000 });
