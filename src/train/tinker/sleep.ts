/** Resolves after a while, or as soon as the signal aborts: whoever sleeps looks at the signal next. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || !(ms > 0)) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
  });
}
