import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { terminateWorker } from '../../build/src/base/sqlite-gate.js';
import { openSql } from '../../build/src/record/store/sql-connection.js';

/** A process that ends, in the way that its argument names, while its threads are inside SQLite and never rest. */
const THREADS = 2;
const ENDS = {
  exit: () => process.exit(7),
  throw: () => {
    throw new Error('the expected error');
  },
  // Nothing keeps the process alive any more.
  empty: (threads) => {
    process.exitCode = 7;
    for (const thread of threads) thread.unref();
  },
  terminate: async (threads) => {
    await Promise.all(threads.map(terminateWorker));
    process.exitCode = 7;
  },
  // While they load the addon.
  loading: () => setTimeout(() => process.exit(7), Math.random() * 300),
};

if (isMainThread) {
  const [way] = process.argv.slice(2);
  const threads = Array.from({ length: THREADS }, () => new Worker(new URL(import.meta.url)));
  if (way === 'loading') ENDS.loading();
  else {
    const busy = threads.map((thread) => new Promise((resolve) => thread.once('message', resolve)));
    await Promise.all(busy);
    await ENDS[way](threads);
  }
} else {
  const sql = openSql(':memory:', { busyMs: 0 });
  sql.get('select 1');
  parentPort?.postMessage('inside');
  for (;;) sql.all('select ? as a union all select 2', 'x'.repeat(200));
}
