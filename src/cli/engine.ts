import path from 'node:path';
import { ShippedFileError } from '../../nano/shipped-policy.ts';
import type { Log } from '../base/log.ts';
import { HomeInUseError, openHome } from '../config/home.ts';
import { readOrCreateKey } from '../config/key.ts';
import { createLog, isPretty } from '../daemon/log.ts';
import {
  needsKey,
  type RunningEngine,
  type StartEngineOptions,
  startEngine,
} from '../daemon/start-engine.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import { callableUrl, explainNoListening, stayUntilStopped } from './foreground.ts';

export interface EngineUpOptions {
  readonly port?: number;
  readonly host?: string;
}

const PORT = 4601;
const LOG_FORMAT = 'auto';

/** The embedded engine in the foreground: resolves when a signal has ended it, or the program that supervises it is gone. */
export async function engineUp(options: EngineUpOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer, stderr, version } = context;
  const { port = PORT, host = '127.0.0.1' } = options;
  const home = openHome(context.homeDir);
  const log = createLog({ format: LOG_FORMAT, level: 'info', stream: stderr, env });
  const key = needsKey(host) ? readOrCreateKey(home, env) : undefined;
  if (key?.tightened) log.warn(`${home.keyFile} could be read by others; its mode is 600 now`);
  const folder = path.join(home.dir, 'engine');
  const startedAt = new Date().toISOString();

  const engine = await start({ folder, port, host, log, ...(key !== undefined && { key: key.key }) });
  // Heard before anyone is told that we are ready: who starts us may stop us at once.
  const ended = untilStopped(engine, log);
  const url = callableUrl(engine.url);
  const { model } = engine;
  if (printer.json)
    printer.document({ ready: true, pid: process.pid, port: engine.port, url, model, startedAt, version });
  else printer.line(`instar engine ready ${url}`);
  if (!isPretty(LOG_FORMAT, stderr)) log.info({ url, model, folder }, 'ready');
  else {
    const label = (text: string) => ({ text: `  ${text.padEnd(10)}`, style: 'dim' }) as const;
    printer.note(label('serves'), { text: model, style: 'bold' });
    printer.note(label('keeps'), folder);
    if (key !== undefined)
      printer.note(label('key'), key.source === 'environment' ? 'INSTAR_KEY' : home.keyFile);
    printer.note(label('next'), 'point a Tinker client at it; Ctrl-C stops');
  }
  return ended;
}

async function start(options: StartEngineOptions & { readonly host: string }): Promise<RunningEngine> {
  const { port, host } = options;
  try {
    return await startEngine(options);
  } catch (error) {
    if (error instanceof HomeInUseError) {
      const mend = 'use that one, stop it, or choose another home with --home';
      throw new CommandError(EXIT.homeTaken, error.message, mend);
    }
    if (error instanceof ShippedFileError) throw new CommandError(EXIT.failed, error.what, error.fix);
    const hostMend = 'choose another with --host';
    throw explainNoListening(error, { host, port, hostMend }) ?? error;
  }
}

/** When nobody is left who could send a second signal. */
const LAST_GRACE_MS = 5_000;

function untilStopped(engine: RunningEngine, log: Log): Promise<ExitCode> {
  const { ended, stop } = stayUntilStopped({ close: () => engine.close(), log });
  const onAbandoned = (): void => {
    setTimeout(() => process.exit(EXIT.failed), LAST_GRACE_MS).unref();
    stop('the program that started this engine is gone; finishing what is under way');
  };
  // Who supervises us holds a channel to us, which the system closes however that program ends. False: it has ended already.
  process.once('disconnect', onAbandoned);
  if (process.connected === false) onAbandoned();
  return ended;
}
