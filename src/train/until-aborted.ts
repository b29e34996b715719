/**
 * What the promise answers, or a rejection with the signal's reason as soon as it aborts: nobody waits for an engine that
 * does not listen. What it answers afterwards is dropped, a rejection included.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    stopListening = () => signal.removeEventListener('abort', leave);
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    stopListening();
  }
}
