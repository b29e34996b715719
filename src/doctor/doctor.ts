import { confinementHere, describeConfiner } from '../agent/sandbox/find-confiner.ts';
import { systemBoot } from '../base/boot-clock.ts';
import { whyNoPgDriver } from '../base/pg-driver.ts';
import { SAFE_FOR_TEAM, whyUnsafeForTeam } from '../config/address.ts';
import { ConfigError } from '../config/config-error.ts';
import { findDaemon } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { readStoreUrl } from '../config/store-url.ts';
import { type BootClock, type Clock, systemClock } from '../core/clock.ts';
import { loadMiniLm } from '../embed/minilm/encoder.ts';
import { isPgUrl } from '../record/pg-place.ts';
import { CONFIRM_TIME, describeDoubt, judgeTime } from '../record/trusted-clock.ts';
import { openSources } from '../schedule/presence-sources.ts';
import { type Later, readSources } from '../schedule/scheduler.ts';
import { localTime } from '../text/phrases.ts';
import { checkCopies } from './check-copies.ts';
import { checkDaemon, checkPort, checkRunningSettings } from './check-daemon.ts';
import { checkHome } from './check-home.ts';
import { checkModels } from './check-models.ts';
import { checkPrices } from './check-prices.ts';
import { checkStore } from './check-store.ts';
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
  const daemon = await findDaemon(home);
  const url = readStoreUrl(home.configFile);
  const isServer = isPgUrl(url);
  const stored = isServer ? await checkServer(url, home.spoolFile) : checkStore(home, daemon);
  const basics = [
    checkNode(nodeVersion),
    checkClock(clock),
    ...checkHome(home, env),
    ...stored,
    checkTime(home, clock),
    ...(isServer ? [] : [checkCopies(home, stored, { now: clock.now(), isRunning: daemon !== undefined })]),
    ...checkDaemon(home, daemon),
    ...(await checkRunningSettings(daemon, home, env)),
  ];
  const { config, checks } = readConfig(home, env);
  if (config === undefined) return [...basics, ...checks];
  const pool = createProbeExchange();
  try {
    const [port, models, presence, sandbox, sentences] = await Promise.all([
      checkPort(daemon, config),
      checkModels({ config, env, homeDir: home.dir, exchange: pool.exchange }),
      checkSchedule(config.schedule, env, home.dir, clock),
      checkSandbox(),
      checkSentences(),
    ]);
    return [
      ...basics,
      ...checks,
      port,
      ...models,
      ...checkPrices(config, env),
      ...checkTeam(config),
      presence,
      sandbox,
      sentences,
    ];
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
    ? passed('clock', localTime(now.getTime()))
    : failed('clock', `the clock shows ${localTime(now.getTime())}`, 'set the date of this machine');
}

/** Whether the clock agrees with the time that has passed since it was last looked at. */
export function checkTime(
  home: { readonly storeFile: string; readonly clockFile: string },
  clock: Clock,
  boot: BootClock = systemBoot,
): DoctorCheck {
  const doubt = judgeTime(home, clock, boot);
  return doubt === undefined
    ? passed('time', 'the clock agrees with the time since it was last seen')
    : warned(
        'time',
        describeDoubt(doubt),
        `if ${localTime(clock.now()).slice(0, 10)} is today: ${CONFIRM_TIME}; else set the date of this machine`,
      );
}

/** Whether the address of the gateway is one that members of a team can use: beyond loopback it needs TLS before it. */
function checkTeam({ gateway }: Pick<Config, 'gateway'>): readonly DoctorCheck[] {
  const why = whyUnsafeForTeam(gateway);
  if (why !== undefined) return [warned('address', why, SAFE_FOR_TEAM)];
  return gateway.trustedProxy ? [passed('address', `a proxy with TLS stands before ${gateway.host}`)] : [];
}

/** What confines the commands of checks and of the agent that practises: found by running the isolation checks in it. */
async function checkSandbox(): Promise<DoctorCheck> {
  const confinement = await confinementHere();
  if (!confinement.ok)
    return warned(
      'sandbox',
      `no command is run, of a rule's check or of a practising agent: ${confinement.why}`,
      confinement.fix,
      'sandbox-missing',
    );
  const { confiner } = confinement;
  const text = describeConfiner(confiner);
  return confiner.filter === undefined
    ? warned('sandbox', text, 'install bubblewrap or perl, which install the filter', 'sandbox-unfiltered')
    : passed('sandbox', text);
}

/** Whether the sentence model can be loaded, and which engine computes. */
async function checkSentences(): Promise<DoctorCheck> {
  try {
    const { engine, problem } = await loadMiniLm();
    return problem === undefined
      ? passed('sentences', `the sentence model runs on ${engine}`)
      : warned('sentences', problem, 'npm install -g onnxruntime-node, or npm uninstall -g onnxruntime-node');
  } catch (error) {
    return failed(
      'sentences',
      error instanceof Error ? error.message : String(error),
      'install Instar again',
    );
  }
}

function readConfig(home: Home, env: NodeJS.ProcessEnv): { config?: Config; checks: readonly DoctorCheck[] } {
  try {
    const { config, source, notes, warnings } = loadConfig({ file: home.configFile, env });
    const from = {
      file: home.configFile,
      environment: `providers from the environment: ${Object.keys(config.providers).join(', ')}`,
      none: `no provider in ${home.configFile} or in the environment`,
    };
    return {
      config,
      checks: [
        passed('config', from[source]),
        ...notes.map((note) => passed('config', note)),
        ...warnings.map((warning) =>
          warned('config', warning, 'take it out of the file with: instar upgrade'),
        ),
      ],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map(({ path, what, fix }) =>
      failed('config', `${path}: ${what}`, fix ?? `edit ${home.configFile}`),
    );
    return { checks };
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
  const detail = readings
    .map(({ source, state, why }) =>
      state === 'unknown' ? `${why} (${source})` : `${source}: ${state} (${why})`,
    )
    .join('; ');
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

async function checkServer(url: string, spoolFile: string): Promise<readonly DoctorCheck[]> {
  const why = whyNoPgDriver();
  if (why !== undefined) return [failed('store', why, 'npm install -g pg pg-boss', 'store-no-driver')];
  return (await import('../../team/check-postgres.ts')).checkPostgres(url, spoolFile);
}
