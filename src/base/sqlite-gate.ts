import { setTimeout as delay } from 'node:timers/promises';
import { getEnvironmentData, setEnvironmentData, threadId, type Worker } from 'node:worker_threads';

/**
 * No thread is ended while it is inside an addon: SQLite's, or onnxruntime's. They call Node while they work; in a thread that is being
 * ended such a call fails, the addon throws a C++ exception that nothing catches, and the whole process aborts (exit code
 * 134) in place of its own exit code.
 *
 * - Every call into the addon, and the loading of it, is made through `insideAddon`, which counts it.
 * - A worker is ended by `terminateWorker` alone. Before the process exits, for whatever reason, the thread that loaded this
 *   module first closes the gate for all workers. Both wait until the thread is outside; it could not end earlier anyway.
 * - A worker that finds the gate closed waits before SQLite until it is ended. A transaction that it has begun is rolled
 *   back by the next process that opens the file.
 * - A worker that uses SQLite starts no workers that do: they would end with it.
 */
const KEY = 'instar.sqlite-gate';
/** A thread has the slot of its id. Threads that share one, 4,096 starts apart, are counted together. */
const SLOTS = 4096;
const INSIDE = 0;
const CLOSED = 1;
/** A call that takes longer than this ends with the process, which then aborts. */
const EXIT_WAIT_MS = 30_000;
const POLL_MS = 5;

interface Gate {
  readonly memory: SharedArrayBuffer;
  /** The thread that waits for the others when the process exits: it never waits at the gate itself. */
  readonly root: number;
}

/** Environment data is inherited by every worker that is started later. */
function openGate(): Gate {
  const inherited = getEnvironmentData(KEY) as Gate | undefined;
  if (inherited !== undefined) return inherited;
  const created: Gate = { memory: new SharedArrayBuffer(SLOTS * 2 * 4), root: threadId };
  setEnvironmentData(KEY, { ...created });
  return created;
}

const { memory, root } = openGate();
const table = new Int32Array(memory);
const placeOf = (thread: number, what: typeof INSIDE | typeof CLOSED): number => (thread % SLOTS) * 2 + what;
const isRoot = threadId === root;
const [inside, closed] = [placeOf(threadId, INSIDE), placeOf(threadId, CLOSED)];
let depth = 0;

/** Runs a call into an addon; calls may be nested. */
export function insideAddon<T>(call: () => T): T {
  if (depth === 0) enter();
  depth++;
  try {
    return call();
  } finally {
    depth--;
    if (depth === 0) leave();
  }
}

/** Counted first, then looked: whoever closes the gate sees the count, or this thread sees that it is closed. */
function enter(): void {
  for (;;) {
    Atomics.add(table, inside, 1);
    if (isRoot || Atomics.load(table, closed) === 0) return;
    leave();
    Atomics.wait(table, closed, 1);
  }
}

function leave(): void {
  Atomics.sub(table, inside, 1);
  if (Atomics.load(table, closed) !== 0) Atomics.notify(table, inside);
}

/** Ends a worker once it is outside SQLite. In place of `worker.terminate()`. */
export async function terminateWorker(worker: Worker): Promise<void> {
  const thread = worker.threadId;
  if (thread < 0) return;
  Atomics.store(table, placeOf(thread, CLOSED), 1);
  while (worker.threadId === thread && Atomics.load(table, placeOf(thread, INSIDE)) > 0) await delay(POLL_MS);
  await worker.terminate();
  Atomics.store(table, placeOf(thread, CLOSED), 0);
  Atomics.notify(table, placeOf(thread, CLOSED));
}

/** Blocks until no worker is inside SQLite; none enters it afterwards. */
function closeForExit(): void {
  const end = performance.now() + EXIT_WAIT_MS;
  for (let thread = 0; thread < SLOTS; thread++) Atomics.store(table, placeOf(thread, CLOSED), 1);
  for (let thread = 0; thread < SLOTS; thread++) {
    if (thread === threadId) continue;
    const place = placeOf(thread, INSIDE);
    for (let count = Atomics.load(table, place); count > 0; count = Atomics.load(table, place)) {
      const left = end - performance.now();
      if (left <= 0) return;
      Atomics.wait(table, place, count, left);
    }
  }
}
if (isRoot) process.on('exit', closeForExit);
