import { readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded by each thread of a measured daemon before anything else: keeps a file for the thread up to date with how long its
 * garbage collector has held it up, in milliseconds, and how often.
 */
const { BENCH_GARBAGE } = process.env;
if (BENCH_GARBAGE !== undefined) {
  const thread = readlinkSync('/proc/thread-self').split('/').at(-1) ?? '0';
  const name = isMainThread ? 'main' : path.basename(process.argv[1] ?? '?', '.js').replace(/-thread$/, '');
  const file = path.join(BENCH_GARBAGE, `${thread} ${name}`);
  let ms = 0;
  let times = 0;
  writeFileSync(file, '0 0');
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      ms += duration;
      times++;
    }
    writeFileSync(file, `${ms} ${times}`);
  }).observe({ entryTypes: ['gc'] });
}
