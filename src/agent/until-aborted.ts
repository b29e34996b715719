/** What a piece of work comes to, or undefined at once when the signal aborts first. Rejects as the work does. */
export async function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let leave = (): void => undefined;
  const gone = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work(), gone]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
