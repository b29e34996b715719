import path from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { RunningEngine, StartEngineOptions } from '../../train/start-engine.ts';
import type { Log } from '../base/log.ts';
import { readOrCreateEngineKey } from '../config/engine-key.ts';
import { HomeInUseError, openHome } from '../config/home.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { createLog, isPretty } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readSalt } from '../redact/salt.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
} from './context.ts';
import { callableUrl, explainListenError, parsePort, stayUntilStopped } from './foreground.ts';
import { dim } from './print.ts';

export const declareEngine: DeclareCommand = (engine, act) =>
  void engine
    .command('up')
    .description('Serve the embedded policy over the Tinker protocol, in the foreground.')
    .option('--port <n>', 'port to listen on; 0 picks a free one (default: 4601)', parsePort)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)', parseHost)
    .addHelpText(
      'after',
      `
Clients send a key: INSTAR_ENGINE_KEY, else the one in engine-key in the home,
which is created on first use.

Example:
  $ instar lab engine up --port 4700
  $ export TINKER_API_KEY=$(cat ~/.instar/engine-key)
  $ TINKER_BASE_URL=http://127.0.0.1:4700 python train.py
`,
    )
    .action(act(engineUp));

function parseHost(text: string): string {
  // An empty host would listen on every address.
  if (text.trim() === '') throw new InvalidArgumentError('Give an address such as 127.0.0.1.');
  return text.trim();
}

interface EngineUpOptions {
  readonly port?: number;
  readonly host?: string;
}

const PORT = 4601;
const LOG_FORMAT = 'auto';

/** Runs the embedded engine in the foreground. Resolves after a signal, or when its supervisor is gone. */
async function engineUp(options: EngineUpOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer, stderr, version } = context;
  const { port = PORT, host = '127.0.0.1' } = options;
  const home = openHome(context.homeDir);
  const redactor = openRedactor({
    salt: readSalt(home),
    keys: () => readOwnKeys(undefined, { env, home }),
  });
  const log = createLog({ format: LOG_FORMAT, level: 'info', stream: stderr, env, redactor });
  const { key, place } = readOrCreateEngineKey(home.dir, env);
  const folder = path.join(home.dir, 'engine');
  const startedAt = new Date().toISOString();

  const engine = await start({ folder, port, host, log, key });
  // Before readiness is announced: a supervisor may send a signal as soon as it reads the ready line.
  const ended = untilStopped(engine, log);
  const url = callableUrl(engine.url);
  const { model } = engine;
  printer.document({
    ready: true,
    pid: process.pid,
    port: engine.port,
    url,
    model,
    keyPlace: place,
    startedAt,
    version,
  });
  printer.line(`instar engine ready ${url}`);
  if (!isPretty(LOG_FORMAT, stderr)) log.info({ url, model, folder, keyPlace: place }, 'ready');
  else {
    const label = (text: string) => dim(`  ${text.padEnd(10)}`);
    printer.note(label('serves'), { text: model, style: 'bold' });
    printer.note(label('folder'), folder);
    printer.note(label('key'), place);
    printer.note(label('next'), 'point a Tinker client at it; Ctrl-C stops');
  }
  return ended;
}

async function start(options: StartEngineOptions & { readonly host: string }): Promise<RunningEngine> {
  const { port, host } = options;
  const { ShippedFileError, startEngine } = await import('../../train/start-engine.ts');
  try {
    return await startEngine(options);
  } catch (error) {
    if (error instanceof HomeInUseError) {
      const fix = 'use that one, stop it, or choose another home with --home';
      throw new CommandError(EXIT.homeTaken, error.message, fix);
    }
    if (error instanceof ShippedFileError) throw failure(error.what, error.fix);
    const hostFix = 'choose another address with --host';
    throw explainListenError(error, { host, port, hostFix }) ?? error;
  }
}

/** The longest graceful stop without a supervisor: nobody is left to send a second signal. */
const ORPHAN_GRACE_MS = 5_000;

function untilStopped(engine: RunningEngine, log: Log): Promise<ExitCode> {
  const { ended, stop } = stayUntilStopped({ close: () => engine.close(), log });
  const onOrphaned = (): void => {
    setTimeout(() => process.exit(EXIT.failed), ORPHAN_GRACE_MS).unref();
    stop('the supervising process has exited; finishing requests in progress');
  };
  // The supervisor holds an IPC channel, which the system closes however that process ends. False: it has ended already.
  process.once('disconnect', onOrphaned);
  if (process.connected === false) onOrphaned();
  return ended;
}
