import type { Log } from '../base/log.ts';
import { EXIT, type ExitCode } from './command-error.ts';

export interface StayOptions {
  /** Finishes what is under way and lets go of everything. */
  readonly close: () => Promise<void>;
  /** What cannot be left as it is even when there is no time to close. */
  readonly leave?: () => void;
  readonly log: Log;
}

export interface Stay {
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
