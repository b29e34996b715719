import { createServer } from 'node:net';
import { ConfigError } from '../config/config-error.ts';
import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { type Check, fail, ok } from './check.ts';
import { checkHome } from './check-home.ts';
import { checkModels } from './check-models.ts';
import { checkStore } from './check-store.ts';
import { findDaemon } from './find-daemon.ts';
import { createProbeExchange } from './probe-provider.ts';
import { checkSchedule } from './schedule/check-schedule.ts';

export interface DoctorOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  readonly nodeVersion?: string;
}

/** Every check that can be made, in the order a person would mend them. Never rejects for what it finds. */
export async function runDoctor(options: DoctorOptions): Promise<readonly Check[]> {
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

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? ok('node', version) : fail('node', `${version} is too old`, 'install Node 20.19 or newer');
}

/** A clock from before this software existed breaks TLS and every date that is recorded. */
function checkClock(clock: Clock): Check {
  const now = new Date(clock.now());
  return now.getUTCFullYear() >= 2026
    ? ok('clock', now.toISOString())
    : fail('clock', `it says ${now.toISOString()}`, 'set the date of this machine');
}

function readConfig(home: Home, env: NodeJS.ProcessEnv): { config?: Config; checks: readonly Check[] } {
  try {
    const { config, source, notes } = loadConfig({ file: home.configFile, env });
    const from = {
      file: home.configFile,
      environment: `providers from the environment: ${Object.keys(config.providers).join(', ')}`,
      none: `${home.configFile} names no provider, and no variable does`,
    };
    return { config, checks: [ok('config', from[source]), ...notes.map((note) => ok('config', note))] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map(({ path, what, mend }) =>
      fail('config', `${path}: ${what}`, mend ?? `edit ${home.configFile}`),
    );
    return { checks };
  }
}

async function checkPort(home: Home, { gateway }: Config): Promise<Check> {
  const daemon = await findDaemon(home);
  if (daemon) return ok('port', `Instar runs at ${daemon.url} (pid ${daemon.pid})`);
  const { port, host } = gateway;
  if (port === 0) return ok('port', 'a free one is picked at start');
  const fault = await new Promise<string | undefined>((resolve) => {
    const server = createServer()
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (fault === undefined) return ok('port', `${port} on ${host} is free`);
  return fault === 'EADDRINUSE'
    ? fail('port', `another program listens on ${port}`, 'set gateway.port, or start with --port')
    : fail('port', `${host}:${port} cannot be used (${fault})`, 'set gateway.host and gateway.port');
}
