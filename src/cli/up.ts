import { askStatus, findDaemon, type StatusReport } from '../api/daemon-status.ts';
import {
  createDaemonFile,
  type DaemonRecord,
  readDaemonFile,
  removeDaemonFile,
} from '../config/daemon-file.ts';
import { type Home, HomeInUseError, openHome } from '../config/home.ts';
import { readOrCreateKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Daemon, DaemonOptions } from '../daemon/daemon.ts';
import { createLog, isPretty } from '../daemon/log.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import { callableUrl, explainNoListening, letThreadsRest, openUrl, stayUntilStopped } from './foreground.ts';
import type { Printer } from './print.ts';

export interface UpOptions {
  readonly port?: number;
  readonly config?: string;
  readonly open?: true;
  readonly log?: 'json' | 'pretty';
}

/** The gateway in the foreground: resolves when a signal has ended it. */
export async function up(options: UpOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer } = context;
  const home = openHome(context.homeDir);
  const port = options.port === undefined ? {} : { port: options.port };
  const { config, notes } = loadConfig({
    file: options.config ?? home.configFile,
    required: options.config !== undefined,
    env,
    ...port,
  });
  await refuseSecondDaemon(home);
  const key = readOrCreateKey(home, env);
  const format = options.log ?? config.log.format;
  const log = createLog({ format, level: config.log.level, stream: context.stderr, env });
  for (const note of notes) log.info(note);
  if (key.tightened) log.warn(`${home.keyFile} could be read by others; its mode is 600 now`);

  const daemon = await start(context, { home, config, env, log, isWarm: true, ...port });
  const record: DaemonRecord = {
    pid: process.pid,
    port: daemon.port,
    url: callableUrl(daemon.url),
    startedAt: new Date().toISOString(),
    version: context.version,
  };
  // Signals are heard before anyone is told that we are ready: who starts us may stop us at once.
  const giveUpHome = () => removeDaemonFile(home, record);
  const { ended } = stayUntilStopped({
    close: () => daemon.close().finally(giveUpHome),
    leave: () => {
      giveUpHome();
      letThreadsRest();
    },
    log,
  });
  try {
    await claimHome(home, record);
  } catch (error) {
    await daemon.close();
    throw error;
  }
  const keyPlace = key.source === 'environment' ? 'INSTAR_KEY' : home.keyFile;
  // The daemon knows what is served: it also finds model servers that no config names.
  const told = await askStatus(home, env).catch(() => undefined);
  const providers = told !== undefined && 'providers' in told ? told.providers : [];
  if (printer.json) printer.document({ ready: true, ...record });
  else printer.line(`instar ready ${record.url}`);
  if (isPretty(format, context.stderr)) greet(printer, providers, keyPlace);
  else log.info({ url: record.url, providers: providers.map(({ name }) => name), keyPlace }, 'ready');
  if (options.open) openUrl(record.url, (message) => log.warn(`no browser could be opened: ${message}`));
  return ended;
}

async function start(context: CommandContext, options: DaemonOptions): Promise<Daemon> {
  try {
    return await context.startDaemon(options);
  } catch (error) {
    if (error instanceof HomeInUseError)
      throw new CommandError(EXIT.homeTaken, error.message, 'see: instar status');
    if (error instanceof Error && error.name === 'VerifierError')
      throw new CommandError(EXIT.failed, error.message, 'mend learn.verifiers in the config');
    const { port, host } = options.config.gateway;
    const hostMend = 'set gateway.host to 127.0.0.1 in the config';
    throw explainNoListening(error, { host, port: options.port ?? port, hostMend }) ?? error;
  }
}

/** Throws when a daemon serves this home; the record of one that was killed is cleared away. */
async function refuseSecondDaemon(home: Home): Promise<void> {
  const seen = readDaemonFile(home);
  const other = await findDaemon(home);
  if (other === undefined) {
    removeDaemonFile(home, seen);
    return;
  }
  throw new CommandError(
    EXIT.homeTaken,
    `another Instar serves ${home.dir}: ${other.url} (pid ${other.pid})`,
    'use that one, stop it, or choose another home with --home',
  );
}

/** Of two starts at the same moment, the one whose record stands serves the home. */
async function claimHome(home: Home, record: DaemonRecord): Promise<void> {
  while (!createDaemonFile(home, record)) await refuseSecondDaemon(home);
}

function greet(printer: Printer, providers: StatusReport['providers'], keyPlace: string): void {
  const label = (text: string) => ({ text: `  ${text.padEnd(10)}`, style: 'dim' }) as const;
  if (providers.length === 0)
    printer.note(label('serves'), 'instar/nano, a laboratory model; no provider yet');
  for (const { name, serves } of providers) {
    printer.note(label('serves'), { text: name, style: 'bold' }, ` (${serves})`);
  }
  printer.note(label('key'), keyPlace);
  printer.note(
    label('next'),
    providers.length === 0 ? 'instar init sets up a provider' : 'instar status shows what it does',
    '; Ctrl-C stops',
  );
}
