/**
 * The result of a promise, or a rejection with the signal's reason as soon as it aborts, for work that does not listen to
 * the signal itself. Its later result is dropped, also a rejection.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    stopListening = () => signal.removeEventListener('abort', leave);
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    stopListening();
  }
}

/** Undefined as soon as the signal aborts; work is not begun after an abort. Rejects as the work does. */
export async function undefinedIfAborted<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  try {
    return await untilAborted(work(), signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
