import { spawn } from 'node:child_process';
import type { Log } from '../base/log.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';

interface StayOptions {
  /** Finishes what is under way and lets go of everything. */
  readonly close: () => Promise<void>;
  /** What cannot be left as it is even when there is no time to close. */
  readonly leave?: () => void;
  readonly log: Log;
}

interface Stay {
  /** Resolves when all is closed. */
  readonly ended: Promise<ExitCode>;
  /** Closes as the first signal does, for another reason. */
  stop(why: string): void;
}

/** Stays in the foreground: the first signal closes, a second one ends the process at once. */
export function stayUntilStopped({ close, leave, log }: StayOptions): Stay {
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
    stop('finishing what is under way; a second signal stops at once');
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return { ended, stop };
}

interface WantedAddress {
  readonly host: string;
  readonly port: number;
  /** What to do about a host that is not this machine's. */
  readonly hostMend: string;
}

/** What is wrong with the address when nothing can listen there; undefined when the error is about something else. */
export function explainNoListening(
  error: unknown,
  { host, port, hostMend }: WantedAddress,
): CommandError | undefined {
  const refused = (message: string, mend: string) => new CommandError(EXIT.failed, message, mend);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return refused(`port ${port} is taken by another program`, 'choose another with --port, or 0 for any');
    case 'EACCES':
      return refused(`port ${port} is not yours to use`, 'choose one above 1023 with --port');
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return refused(`${host} is not an address of this machine`, hostMend);
    default:
      return undefined;
  }
}

/** Listening on every address is not an address to call. */
export const callableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL as a click would; no shell reads it. A machine without an opener says so to `onFault`. */
export function openUrl(url: string, onFault: (message: string) => void): void {
  const [command = 'xdg-open', ...rest] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...rest, url], { stdio: 'ignore', detached: true });
  child.once('error', (error) => onFault(error.message));
  child.unref();
}

const LOOK_MS = 50;
/** Of one look: less than this is no work. */
const RESTING_US = 5_000;
const MOST_MS = 500;

/**
 * For whoever is about to end the process with threads running: one that is ended inside a call of SQLite's aborts it, and an
 * abort has no exit code. While this thread sleeps nobody gives the others anything to do; it sleeps until they have done what
 * they had, and never for long.
 */
export function letThreadsRest(): void {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  for (let slept = 0; slept < MOST_MS; slept += LOOK_MS) {
    const before = process.cpuUsage();
    Atomics.wait(bell, 0, 0, LOOK_MS);
    const { user, system } = process.cpuUsage(before);
    if (user + system < RESTING_US) return;
  }
}
