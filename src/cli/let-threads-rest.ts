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
