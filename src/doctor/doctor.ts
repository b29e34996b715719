import { type Stats, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { findDaemon } from '../api/daemon-status.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { StoreError } from '../core/store.ts';
import { openSqliteReader } from '../record/store/sqlite-store.ts';
import { openSources } from '../schedule/presence-sources.ts';
import { type Later, readSources } from '../schedule/scheduler.ts';
import { checkModels } from './check-models.ts';
import { createProbeExchange } from './probe-provider.ts';

interface DoctorOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  readonly nodeVersion?: string;
}

/** Every check that can be made, in the order a person would mend them. Never rejects for what it finds. */
export async function runDoctor(options: DoctorOptions): Promise<readonly DoctorCheck[]> {
  const { home, env, clock = systemClock, nodeVersion = process.versions.node } = options;
  const basics = [checkNode(nodeVersion), checkClock(clock), ...checkHome(home, env), ...checkStore(home)];
  const { config, checks } = readConfig(home, env);
  if (config === undefined) return [...basics, ...checks];
  const pool = createProbeExchange();
  try {
    const [port, models, presence] = await Promise.all([
      checkPort(home, config),
      checkModels({ config, env, homeDir: home.dir, exchange: pool.exchange }),
      checkSchedule(config.schedule, env, home.dir, clock),
    ]);
    return [...basics, ...checks, port, ...models, presence];
  } finally {
    await pool.close();
  }
}

function checkNode(version: string): DoctorCheck {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough
    ? passed('node', version)
    : failed('node', `${version} is too old`, 'install Node 20.19 or newer');
}

/** A clock from before this software existed breaks TLS and every date that is recorded. */
function checkClock(clock: Clock): DoctorCheck {
  const now = new Date(clock.now());
  return now.getUTCFullYear() >= 2026
    ? passed('clock', now.toISOString())
    : failed('clock', `it says ${now.toISOString()}`, 'set the date of this machine');
}

function readConfig(home: Home, env: NodeJS.ProcessEnv): { config?: Config; checks: readonly DoctorCheck[] } {
  try {
    const { config, source, notes } = loadConfig({ file: home.configFile, env });
    const from = {
      file: home.configFile,
      environment: `providers from the environment: ${Object.keys(config.providers).join(', ')}`,
      none: `${home.configFile} names no provider, and no variable does`,
    };
    return {
      config,
      checks: [passed('config', from[source]), ...notes.map((note) => passed('config', note))],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map(({ path, what, mend }) =>
      failed('config', `${path}: ${what}`, mend ?? `edit ${home.configFile}`),
    );
    return { checks };
  }
}

async function checkPort(home: Home, { gateway }: Config): Promise<DoctorCheck> {
  const daemon = await findDaemon(home);
  if (daemon) return passed('port', `Instar runs at ${daemon.url} (pid ${daemon.pid})`);
  const { port, host } = gateway;
  if (port === 0) return passed('port', 'a free one is picked at start');
  const fault = await new Promise<string | undefined>((resolve) => {
    const server = createServer()
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (fault === undefined) return passed('port', `${port} on ${host} is free`);
  return fault === 'EADDRINUSE'
    ? failed('port', `another program listens on ${port}`, 'set gateway.port, or start with --port')
    : failed('port', `${host}:${port} cannot be used (${fault})`, 'set gateway.host and gateway.port');
}

/** The outcome of one thing that was looked at. */
export interface DoctorCheck {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly mend?: string;
}

export const passed = (name: string, detail: string): DoctorCheck => ({ name, status: 'ok', detail });
export const warned = (name: string, detail: string, mend: string): DoctorCheck => ({
  name,
  status: 'warn',
  detail,
  mend,
});
export const failed = (name: string, detail: string, mend: string): DoctorCheck => ({
  name,
  status: 'fail',
  detail,
  mend,
});

/** The home, the modes of what lies in it, and the key. Makes nothing; a key file that others can read is narrowed. */
const checkHome = (home: Home, env: NodeJS.ProcessEnv): readonly DoctorCheck[] => [
  checkFolder(home.dir),
  ...[home.configFile, home.daemonFile, home.storeFile, home.saltFile].flatMap(checkFile),
  checkKey(home, env),
];

function checkFolder(dir: string): DoctorCheck {
  const stats = look(dir);
  if (stats === 'unreadable')
    return failed('home', `${dir} cannot be looked into`, 'choose another home with --home');
  if (stats === undefined) return passed('home', `${dir} will be made on first start`);
  if (!stats.isDirectory())
    return failed('home', `${dir} is a file, not a folder`, 'choose another home with --home');
  if (isOpen(stats, 0o022)) return failed('home', `${dir} can be written to by others`, `chmod 700 ${dir}`);
  if (isOpen(stats, 0o077)) return warned('home', `${dir} can be read by others`, `chmod 700 ${dir}`);
  return passed('home', dir);
}

function checkFile(file: string): readonly DoctorCheck[] {
  const stats = look(file);
  if (stats === undefined || stats === 'unreadable' || !isOpen(stats, 0o077)) return [];
  return [warned('file modes', `${file} can be read by others`, `chmod 600 ${file}`)];
}

function checkKey(home: Home, env: NodeJS.ProcessEnv): DoctorCheck {
  try {
    const key = readKey(home, env);
    if (key === undefined) return passed('key', `${home.keyFile} will be made on first start`);
    if (key.tightened) return passed('key', `${home.keyFile} could be read by others; its mode is 600 now`);
    return passed('key', key.source === 'environment' ? 'from INSTAR_KEY' : home.keyFile);
  } catch (error) {
    const problem = error instanceof ConfigError ? error.problems[0] : undefined;
    if (problem === undefined) throw error;
    return failed(
      'key',
      `${problem.path}: ${problem.what}`,
      problem.mend ?? 'remove it; a new one is made on start',
    );
  }
}

function look(path: string): Stats | 'unreadable' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return 'unreadable';
  }
}

const isOpen = (stats: Stats, bits: number): boolean =>
  process.platform !== 'win32' && (stats.mode & bits) !== 0;

const LITTLE_ROOM = 200 * 1024 * 1024;

/** The record: whether it can be opened, whether its rows are what was written, and whether there is room for more. */
const checkStore = (home: Home): readonly DoctorCheck[] => [...checkRows(home), ...checkRoom(home)];

function checkRows({ storeFile }: Home): readonly DoctorCheck[] {
  if (statSync(storeFile, { throwIfNoEntry: false }) === undefined)
    return [passed('store', 'nothing is recorded yet')];
  try {
    const reader = openSqliteReader(storeFile);
    try {
      const findings = reader.check();
      const { turns, sessions, bytes } = reader.totals();
      const size = `${turns} turns in ${sessions} sessions, ${(bytes / 1048576).toFixed(1)} MB`;
      if (findings.length === 0) return [passed('store', size)];
      const mend = 'stop Instar, then: instar restore FILE (a daily copy is in the folder snapshots)';
      return [failed('store', `${findings.length} damaged places, first: ${findings[0]}`, mend)];
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const mend =
      error.code === 'newer' ? 'install a newer Instar' : 'instar restore FILE, or move the file away';
    return [failed('store', error.message, mend)];
  }
}

function checkRoom({ dir }: Home): readonly DoctorCheck[] {
  try {
    const { bavail, bsize } = statfsSync(dir);
    const free = bavail * bsize;
    const text = `${(free / 1073741824).toFixed(1)} GB free`;
    return [
      free < LITTLE_ROOM
        ? warned('disk', text, 'make room: turns are served but not kept on a full disk')
        : passed('disk', text),
    ];
  } catch {
    return [];
  }
}

const PATIENCE_MS = 5_000;
const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** What on this machine can tell whether someone is there. */
async function checkSchedule(
  settings: Config['schedule'],
  env: NodeJS.ProcessEnv,
  homeDir: string,
  clock: Clock,
): Promise<DoctorCheck> {
  const { all, close } = openSources({ settings, env, homeDir, clock });
  const readings = await readSources(all, clock.now(), AbortSignal.timeout(PATIENCE_MS), later);
  close();
  const told = readings.map(({ source, state, why }) => `${source}: ${state} (${why})`).join('; ');
  // What is idle for long enough is confirmed by a second look; a count is sight all the same.
  const hasEyes = readings.some(
    ({ state, idleMs, until }) => state !== 'unknown' || idleMs !== undefined || until !== undefined,
  );
  return hasEyes
    ? passed('presence', told)
    : warned(
        'presence',
        told || 'nothing here can tell whether you are there',
        'set schedule.sleep or schedule.calendar; else slow work waits until no request came for schedule.idleMinutes',
      );
}
