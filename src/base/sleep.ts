/** Resolves after `ms` milliseconds, or as soon as the signal aborts. Never rejects: check the signal afterwards. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || !(ms > 0)) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake, { once: true });
  });
}
