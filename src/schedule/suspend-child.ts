import type { ChildProcess } from 'node:child_process';

/** A child process that can be made to stand still between two instructions. */
export interface SuspendedChild {
  /**
   * At once, wherever it is. A system that knows no such thing (Windows) ends the process instead: the last checkpoint
   * says where to go on. False when it had ended.
   */
  suspend(): boolean;
  /** Lets it go on as if nothing had been. False when it has ended. */
  resume(): boolean;
  readonly isSuspended: boolean;
  /** Suspends it when the signal aborts; the answer stops that. */
  follow(signal: AbortSignal): () => void;
  /**
   * Lets it go on to its next safe point after `ask` has told it to stop there, and kills it when the grace is over.
   * Resolves when it has ended. Never rejects.
   */
  stop(ask: () => void, graceMs: number): Promise<void>;
}

/**
 * For jobs that run children: when a person is back the machine is theirs within the time of a signal, not when a batch
 * is done. The part ends with the child standing still; the next part resumes the same child, or starts one from the
 * checkpoint if it is gone. A job that will not come back must `stop` it: a process that stands still keeps its memory.
 */
export function suspendChild(child: ChildProcess): SuspendedChild {
  let isSuspended = false;
  const hasEnded = (): boolean =>
    child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

  const suspend = (): boolean => {
    if (hasEnded()) return false;
    isSuspended = true;
    if (process.platform === 'win32') return child.kill('SIGKILL');
    return child.kill('SIGSTOP');
  };
  const resume = (): boolean => {
    if (hasEnded()) return false;
    isSuspended = false;
    return process.platform === 'win32' || child.kill('SIGCONT');
  };
  return {
    suspend,
    resume,
    get isSuspended() {
      return isSuspended && !hasEnded();
    },
    follow: (signal) => {
      const onAbort = (): void => void suspend();
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      return () => signal.removeEventListener('abort', onAbort);
    },
    stop: async (ask, graceMs) => {
      if (hasEnded()) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      const kill = setTimeout(() => void child.kill('SIGKILL'), graceMs);
      resume();
      try {
        ask();
      } catch {
        child.kill('SIGKILL');
      }
      await ended;
      clearTimeout(kill);
    },
  };
}
