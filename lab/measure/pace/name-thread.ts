import { appendFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded by each thread of a measured daemon before anything else: writes down which thread of the system it is. With
 * PACE_TIMERS it also writes a line for each timer that fires: who set it.
 */
const { PACE_THREADS, PACE_TIMERS } = process.env;
const name = isMainThread ? 'main' : path.basename(process.argv[1] ?? '?', '.js').replace(/-thread$/, '');
if (PACE_THREADS !== undefined)
  appendFileSync(PACE_THREADS, `${readlinkSync('/proc/thread-self').split('/').at(-1)} ${name}\n`);

/** The first line of the stack outside this file and Node. */
function caller(): string {
  const frame = (new Error().stack ?? '')
    .split('\n')
    .slice(1)
    .find((line) => !/name-thread|node:/.test(line));
  return (
    /(?:dist\/|node_modules\/)([^():]+):(\d+)/
      .exec(frame ?? '')
      ?.slice(1)
      .join(':') ?? 'node'
  );
}

if (PACE_TIMERS !== undefined) {
  const file = PACE_TIMERS;
  for (const kind of ['setTimeout', 'setInterval'] as const) {
    const real = globalThis[kind];
    const counted = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
      const source = caller();
      const fire = (): void => {
        appendFileSync(file, `${name} ${source}\n`);
        run(...args);
      };
      return real(fire, ms);
    };
    Object.assign(globalThis, { [kind]: counted });
  }
}
