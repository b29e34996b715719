import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { InvalidArgumentError } from 'commander';
import type { Log } from '../base/log.ts';
import { type CommandError, EXIT, type ExitCode, failure } from './context.ts';

interface StayOptions {
  /** Finishes requests in progress and releases every resource. */
  readonly close: () => Promise<void>;
  /** Cleanup that must happen even when the process exits without closing. */
  readonly leave?: () => void;
  /** SIGHUP reads the settings again, except when it comes because the terminal was closed. */
  readonly reload?: () => Promise<void>;
  readonly log: Log;
}

interface Stay {
  /** Resolves when `close` has finished. */
  readonly ended: Promise<ExitCode>;
  /** Closes like the first signal does, and logs this reason. */
  stop(why: string): void;
}

/** Stays in the foreground: the first signal closes gracefully, a second one exits the process at once. */
export function stayUntilStopped({ close, leave, reload, log }: StayOptions): Stay {
  let isClosing = false;
  let begin: (closed: Promise<void>) => void;
  const ended = new Promise<void>((resolve) => {
    begin = resolve;
  }).then(() => EXIT.ok);
  const stop = (why: string): void => {
    if (isClosing) return;
    isClosing = true;
    log.info(why);
    begin(close());
  };
  const onSignal = (): void => {
    if (isClosing) {
      leave?.();
      process.exit(EXIT.failed);
    }
    stop('finishing requests in progress; a second signal exits at once');
  };
  // Node would print the error as it is; the log redacts it.
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'an unexpected error stopped Instar; its state is on disk: start it again');
    leave?.();
    process.exit(EXIT.failed);
  });
  // A process that `nohup` or a supervisor started has none, and stays.
  const isAtTerminal = process.platform === 'win32' || [0, 1, 2].some((fd) => isatty(fd));
  if (reload !== undefined)
    process.on('SIGHUP', () => {
      if (isAtTerminal && !hasTerminal()) stop('the terminal was closed: finishing requests in progress');
      else void reload();
    });
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return { ended, stop };
}

/** Whether this process belongs to a terminal that is still there. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch {
    return false;
  }
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** What the user can do when the host is not an address of this machine. */
  readonly hostFix: string;
}

/** Explains why listening failed; undefined when the error has another cause. */
export function explainListenError(
  error: unknown,
  { host, port, hostFix }: ListenAddress,
): CommandError | undefined {
  const refused = (message: string, fix: string) => failure(message, fix);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return refused(`port ${port} is taken by another program`, 'choose another with --port, or 0 for any');
    case 'EACCES':
      return refused(`no permission to listen on port ${port}`, 'choose one above 1023 with --port');
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return refused(`${host} is not an address of this machine`, hostFix);
    default:
      return undefined;
  }
}

/** The loopback URL for a server that listens on every address. */
export const callableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL in the default browser, without a shell. `onFault` is called when that fails. */
export function openUrl(url: string, onFault: (message: string) => void): void {
  const [command = 'xdg-open', ...rest] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...rest, url], { stdio: 'ignore', detached: true });
  child.once('error', (error) => onFault(error.message));
  child.unref();
}

/** Parses `--port`. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('Give a number from 0 to 65535.');
  return port;
}
