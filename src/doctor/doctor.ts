import { type Stats, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { ConfigError } from '../config/config-error.ts';
import { findDaemon } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { StoreError } from '../core/store.ts';
import { openSqliteReader } from '../record/store/sqlite-store.ts';
import { openSources } from '../schedule/presence-sources.ts';
import { type Later, readSources } from '../schedule/scheduler.ts';
import { checkCopies } from './check-copies.ts';
import { checkModels } from './check-models.ts';
import { checkTime } from './check-time.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';
import { createProbeExchange } from './probe-provider.ts';

interface DoctorOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  readonly nodeVersion?: string;
}

/** Runs every check, in the order in which a person would fix them. Problems are results; they never reject. */
export async function runDoctor(options: DoctorOptions): Promise<readonly DoctorCheck[]> {
  const { home, env, clock = systemClock, nodeVersion = process.versions.node } = options;
  const stored = checkStore(home);
  const times = [checkTime(home, clock), checkCopies(home, stored, clock.now())];
  const basics = [checkNode(nodeVersion), checkClock(clock), ...checkHome(home, env), ...stored, ...times];
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

/** A clock before 2026, when this software was written, breaks TLS and every recorded date. */
function checkClock(clock: Clock): DoctorCheck {
  const now = new Date(clock.now());
  return now.getUTCFullYear() >= 2026
    ? passed('clock', now.toISOString())
    : failed('clock', `the clock shows ${now.toISOString()}`, 'set the date of this machine');
}

function readConfig(home: Home, env: NodeJS.ProcessEnv): { config?: Config; checks: readonly DoctorCheck[] } {
  try {
    const { config, source, notes } = loadConfig({ file: home.configFile, env });
    const from = {
      file: home.configFile,
      environment: `providers from the environment: ${Object.keys(config.providers).join(', ')}`,
      none: `no provider in ${home.configFile} or in the environment`,
    };
    return {
      config,
      checks: [passed('config', from[source]), ...notes.map((note) => passed('config', note))],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map(({ path, what, fix }) =>
      failed('config', `${path}: ${what}`, fix ?? `edit ${home.configFile}`),
    );
    return { checks };
  }
}

async function checkPort(home: Home, { gateway }: Config): Promise<DoctorCheck> {
  const daemon = await findDaemon(home);
  if (daemon) return passed('port', `Instar is running at ${daemon.url} (pid ${daemon.pid})`);
  const { port, host } = gateway;
  if (port === 0) return passed('port', 'a free port is chosen at start');
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

/** The home, its file modes and the key. Creates nothing; a key file readable by others is set to mode 600. */
const checkHome = (home: Home, env: NodeJS.ProcessEnv): readonly DoctorCheck[] => [
  checkFolder(home.dir),
  ...[home.configFile, home.daemonFile, home.storeFile, home.saltFile].flatMap(checkFile),
  checkKey(home, env),
];

function checkFolder(dir: string): DoctorCheck {
  const stats = statOf(dir);
  if (stats === 'unreadable')
    return failed('home', `${dir} cannot be read`, 'choose another home with --home');
  if (stats === undefined) return passed('home', `${dir} will be created on first start`);
  if (!stats.isDirectory())
    return failed('home', `${dir} is a file, not a folder`, 'choose another home with --home');
  if (isOpen(stats, 0o022)) return failed('home', `${dir} is writable by others`, `chmod 700 ${dir}`);
  if (isOpen(stats, 0o077)) return warned('home', `${dir} is readable by others`, `chmod 700 ${dir}`);
  return passed('home', dir);
}

function checkFile(file: string): readonly DoctorCheck[] {
  const stats = statOf(file);
  if (stats === undefined || stats === 'unreadable' || !isOpen(stats, 0o077)) return [];
  return [warned('file modes', `${file} is readable by others`, `chmod 600 ${file}`)];
}

function checkKey(home: Home, env: NodeJS.ProcessEnv): DoctorCheck {
  try {
    const key = readKey(home, env);
    if (key === undefined) return passed('key', `${home.keyFile} will be created on first start`);
    if (key.tightened) return passed('key', `${home.keyFile} was readable by others; its mode is now 600`);
    return passed('key', key.source === 'environment' ? 'from INSTAR_KEY' : home.keyFile);
  } catch (error) {
    const problem = error instanceof ConfigError ? error.problems[0] : undefined;
    if (problem === undefined) throw error;
    return failed(
      'key',
      `${problem.path}: ${problem.what}`,
      problem.fix ?? 'remove it; a new one is created on start',
    );
  }
}

function statOf(path: string): Stats | 'unreadable' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return 'unreadable';
  }
}

const isOpen = (stats: Stats, bits: number): boolean =>
  process.platform !== 'win32' && (stats.mode & bits) !== 0;

const LOW_SPACE = 200 * 1024 * 1024;

/** Whether the store opens, whether its rows match their hashes, and whether the disk has free space. */
const checkStore = (home: Home): readonly DoctorCheck[] => [...checkRows(home), ...checkDisk(home)];

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
      const fix = 'stop Instar, then: instar restore FILE (daily copies are in the folder snapshots)';
      return [
        failed(
          'store',
          `${findings.length === 1 ? '1 damaged row' : `${findings.length} damaged rows, the first`}: ${findings[0]}`,
          fix,
        ),
      ];
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const fix =
      error.code === 'newer' ? 'install a newer Instar' : 'instar restore FILE, or move the file away';
    return [failed('store', error.message, fix)];
  }
}

function checkDisk({ dir }: Home): readonly DoctorCheck[] {
  try {
    const { bavail, bsize } = statfsSync(dir);
    const free = bavail * bsize;
    const text = `${(free / 1073741824).toFixed(1)} GB free`;
    return [
      free < LOW_SPACE
        ? warned('disk', text, 'free some space: on a full disk turns are served but not recorded')
        : passed('disk', text),
    ];
  } catch {
    return [];
  }
}

const TIMEOUT_MS = 5_000;
const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Whether any source on this machine can detect presence. */
async function checkSchedule(
  settings: Config['schedule'],
  env: NodeJS.ProcessEnv,
  homeDir: string,
  clock: Clock,
): Promise<DoctorCheck> {
  const { all, close } = openSources({ settings, env, homeDir, clock });
  const readings = await readSources(all, clock.now(), AbortSignal.timeout(TIMEOUT_MS), later);
  close();
  const detail = readings.map(({ source, state, why }) => `${source}: ${state} (${why})`).join('; ');
  // The first reading of an idle source is `unknown` until a second one confirms it, but it carries an idle time.
  const canDetect = readings.some(
    ({ state, idleMs, until }) => state !== 'unknown' || idleMs !== undefined || until !== undefined,
  );
  return canDetect
    ? passed('presence', detail)
    : warned(
        'presence',
        detail || 'no source on this machine can detect whether you are present',
        'set schedule.sleep or schedule.calendar; otherwise background jobs wait until there was no request for schedule.idleMinutes',
      );
}
