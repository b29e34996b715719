import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'commander';
import { askStatus, type StatusReport } from '../api/daemon-status.ts';
import { openSettings } from '../api/settings-api.ts';
import type { Log } from '../base/log.ts';
import { openLogFile } from '../base/log-file.ts';
import { createDaemonFile, type DaemonRecord, removeDaemonFile } from '../config/daemon-file.ts';
import { type Home, homeAt, openHome } from '../config/home.ts';
import { readOrCreateKey } from '../config/key.ts';
import { followSettings, type LiveSettings } from '../config/live-settings.ts';
import { readOwnKeys, withFormerKeys } from '../config/own-keys.ts';
import type { Config } from '../config/schema.ts';
import { findWriteFault, openScratchHome } from '../config/scratch-home.ts';
import { StoreError } from '../core/store.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { DaemonOptions } from '../daemon/record-and-keys.ts';
import { createLog, isPretty, type LogOptions } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { askOwner, isAtTerminal } from './confirm-owner.ts';
import { type CommandContext, type DeclareCommand, type ExitCode, failure } from './context.ts';
import { callableUrl, explainListenError, parsePort, stayUntilStopped } from './foreground.ts';
import { dim, lineWidth, noteField, type Printer } from './print.ts';
import { createProgress } from './progress.ts';
import {
  describeMissingKeys,
  nameProgramOnPort,
  openPage,
  refuseSecondDaemon,
  refuseTakenPort,
} from './up-checks.ts';

export const declareUp: DeclareCommand = (command, act) =>
  void command
    .option('--port <n>', 'port to listen on; 0 picks a free one (default: gateway.port, 4600)', parsePort)
    .option('--config <file>', 'read this file instead of the one in the home')
    .option('--open', 'open the page in your browser')
    .addOption(new Option('--log <format>', 'format of log lines').choices(['json', 'pretty', 'none']))
    .addHelpText('after', '\nExample:\n  $ OPENAI_API_KEY=… instar up --port 4700\n')
    .action(act(up));

interface UpOptions {
  readonly port?: number;
  readonly config?: string;
  readonly open?: true;
  readonly log?: 'json' | 'pretty' | 'none';
}

/** Runs the gateway in the foreground. Resolves after a signal has stopped it. */
async function up(options: UpOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer } = context;
  const { home, fault } = openServingHome(context.homeDir);
  const port = options.port === undefined ? {} : { port: options.port };
  const file = resolve(options.config ?? home.configFile);
  const place = { file, required: options.config !== undefined, env, ...port };
  const first = await openSettings(place, home);
  const isFirst =
    options.config === undefined && fault === undefined && (await askFirst(first, home, context));
  const { settings, notes, warnings, waiting } = isFirst ? await openSettings(place, home) : first;
  const { config } = settings;
  const stale = await refuseSecondDaemon(homeAt(context.homeDir), fault === undefined);
  await refuseTakenPort({ host: config.gateway.host, port: options.port ?? config.gateway.port });
  const key = readOrCreateKey(home, env);
  const { log, logFile, logOptions } = openUpLog(options, context, { home, settings, fault });
  const { format } = logOptions;
  for (const note of notes) log.info(note);
  for (const warning of [...warnings, ...stale, ...describeMissingKeys(config, { env, home })])
    log.warn(warning);
  warnOfWaiting(waiting, log);
  if (fault !== undefined)
    log.error(
      { home: context.homeDir },
      `the home cannot be written to (${fault}): requests are served, nothing is recorded or learned until it can be. Fix: instar doctor`,
    );
  if (key.tightened) log.warn(`${home.keyFile} was readable by others; its mode is now 600`);

  const progress = createProgress(context);
  if (context.stderr.isTTY === true && isPretty(format, context.stderr))
    progress.show({ phase: 'starting: opening the record, loading the models that find lessons' });
  const daemon = await start(context, { home, config, settings, env, log, isWarm: true, ...port });
  const followed = followSettings({ settings, files: [file, home.confirmedFile], log });
  const record: DaemonRecord = {
    pid: process.pid,
    port: daemon.port,
    url: callableUrl(daemon.url),
    startedAt: new Date().toISOString(),
    version: context.version,
  };
  // Before readiness is announced: a supervisor may send a signal as soon as it reads the ready line.
  const releaseHome = () => removeDaemonFile(home, record);
  const { ended } = stayUntilStopped({
    close: () => {
      followed.close();
      return daemon.close().finally(releaseHome);
    },
    reload: followed.reloadNow,
    leave: releaseHome,
    log,
  });
  try {
    await claimHome(home, record);
    progress.clear();
  } catch (error) {
    progress.clear();
    await daemon.close();
    throw error;
  }
  const keyPlace = key.source === 'environment' ? 'INSTAR_KEY' : home.keyFile;
  // Asked of the daemon itself: it also discovers local model servers that the config does not name. By HTTP: what this request
  // compiles is not compiled in the first turn, which would get no lesson on a busy machine.
  const status = await askStatus(home, env).catch(() => undefined);
  const providers = status !== undefined && 'providers' in status ? status.providers : [];
  printer.document({ ready: true, ...record });
  printer.line(`instar ready ${record.url}`);
  const [learns] = status !== undefined && 'learning' in status ? status.learning : [];
  const isGreeting = isPretty(format, context.stderr);
  if (isGreeting)
    greet(printer, {
      providers,
      keyPlace,
      learns,
      page: pageOf(daemon, record),
      width: lineWidth(context.stderr, env),
    });
  const ready = isGreeting ? createLog({ ...logOptions, format: 'none', file: logFile }) : log;
  ready.info({ url: record.url, providers: providers.map(({ name }) => name), keyPlace, learns }, 'ready');
  if (options.open) openPage(pageOf(daemon, record), (message) => log.warn(message));
  const code = await ended;
  log.info('stopped');
  await logFile?.close();
  return code;
}

/** The log of the terminal and, in a home that can be written to, of the log file. */
function openUpLog(
  options: UpOptions,
  { env, stderr }: CommandContext,
  { home, fault, settings }: ReturnType<typeof openServingHome> & { readonly settings: LiveSettings },
) {
  const redactor = openRedactor({
    salt: readOrCreateSalt(home),
    keys: withFormerKeys(settings, (now) => readOwnKeys(now, { env, home })),
  });
  const { log: logged } = settings.config;
  const format = options.log ?? ('auto' as const);
  const logOptions = { format, level: logged.level, stream: stderr, env, redactor };
  const logFile = fault === undefined ? keepLog(home.logFile, logOptions) : undefined;
  const log = createLog({ ...logOptions, file: logFile });
  settings.onChange(async () => {
    log.level = logged.level;
  });
  return { log, logFile, logOptions };
}

function warnOfWaiting(
  waiting: readonly { readonly path: string; readonly asked: string; readonly used: string }[],
  log: Log,
): void {
  for (const { path, asked, used } of waiting)
    log.warn(
      `${path} is "${asked}" in the config and needs your word; "${used}" is used. Confirm it with: instar config check --confirm`,
    );
}

/** A person who starts Instar and has no provider is asked for one. Resolves with whether the config was written. */
async function askFirst(
  { settings: { config } }: { readonly settings: { readonly config: Config } },
  home: Home,
  context: CommandContext,
): Promise<boolean> {
  if (existsSync(home.configFile) || !isAtTerminal(context) || context.printer.json) return false;
  if (Object.keys(config.providers).length > 0) {
    // The environment has chosen the provider: only the agents are left, once.
    const { offerAgents } = await import('./offer-agents.ts');
    if (!existsSync(home.storeFile)) await offerAgents(context, true);
    return false;
  }
  const isWanted = await askOwner(
    context,
    'No model provider is set up yet. Choose one now? (Without one, the toy model inside Instar answers.)',
    true,
  );
  if (!isWanted) return false;
  const { initFirst } = await import('./init.ts');
  await initFirst(context);
  return true;
}

/** A fault of the log file is told on standard error alone. */
const keepLog = (file: string, options: LogOptions): ReturnType<typeof openLogFile> =>
  openLogFile(file, (error) =>
    createLog(options).warn(
      `${file} cannot be written (${error.message}): log lines wait for it, up to 1 MB of them`,
    ),
  );

/** The home; with a scratch folder for what a daemon writes when the home cannot be written to. */
function openServingHome(dir: string): { readonly home: Home; readonly fault: string | undefined } {
  const home = openHome(dir);
  const fault = findWriteFault(home);
  return { home: fault === undefined ? home : openScratchHome(home), fault };
}

async function start(context: CommandContext, options: DaemonOptions): Promise<Daemon> {
  try {
    return await context.startDaemon(options);
  } catch (error) {
    if (error instanceof Error && error.name === 'VerifierError')
      throw failure(error.message, 'fix learn.verifiers in the config');
    if (error instanceof StoreError && (error.code === 'uncopied' || error.code === 'no-driver'))
      throw failure(error.message);
    const { port, host } = options.config.gateway;
    const hostFix = 'set gateway.host to 127.0.0.1 in the config';
    const address = { host, port: options.port ?? port, hostFix };
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw await nameProgramOnPort(address);
    throw explainListenError(error, address) ?? error;
  }
}

/** Signs one browser in: only for the terminal, never for a log. */
const pageOf = (daemon: Daemon, { url }: DaemonRecord): string | undefined => {
  const code = daemon.pageCode();
  return code === undefined ? undefined : url + code;
};

/** When several daemons start at once, the one that creates the record serves the home. */
async function claimHome(home: Home, record: DaemonRecord): Promise<void> {
  while (!createDaemonFile(home, record)) await refuseSecondDaemon(home);
}

interface Greeting {
  readonly providers: StatusReport['providers'];
  readonly keyPlace: string;
  readonly learns: string | undefined;
  readonly page: string | undefined;
  readonly width: number | undefined;
}

function greet(printer: Printer, { providers, keyPlace, learns, page, width }: Greeting): void {
  const label = (text: string) => dim(`  ${text.padEnd(10)}`);
  if (providers.length === 0) printer.note(label('serves'), 'the toy model inside Instar; no provider yet');
  for (const { name, serves } of providers) {
    printer.note(label('serves'), { text: name, style: 'bold' }, ` (${serves})`);
  }
  printer.note(label('key'), keyPlace);
  if (page !== undefined)
    printer.note(label('page'), page, dim(' (once, within 10 min; again: instar page)'));
  if (learns !== undefined) noteField(printer, '  learning  ', learns, width);
  printer.note(
    label('next'),
    providers.length === 0 ? 'instar init sets up a provider' : 'instar status shows what it serves',
    '; Ctrl-C stops',
  );
}
