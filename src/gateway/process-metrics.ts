import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const RESOLUTION_MS = 10;
/** Whoever scrapes less often than this gets no lag. */
const SCRAPED_WITHIN_MS = 5 * 60_000;

/**
 * Memory, open files and the event loop's lag of this process. The lag covers the time since the last scrape, and is measured only
 * while somebody scrapes: looking at it wakes the process a hundred times a second.
 */
export function addProcessGauges(registers: Registry[]): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let stop: NodeJS.Timeout | undefined;
  const measureOn = (): void => {
    delay.reset();
    delay.enable();
    clearTimeout(stop);
    stop = setTimeout(() => delay.disable(), SCRAPED_WITHIN_MS).unref();
  };
  gauge(registers, 'process_resident_memory_bytes', 'Resident memory of the daemon', () =>
    process.memoryUsage.rss(),
  );
  gauge(
    registers,
    'nodejs_heap_used_bytes',
    'Used heap of the main thread',
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    registers,
    'nodejs_active_resources',
    'Handles and requests that keep the event loop alive',
    () => process.getActiveResourcesInfo().length,
  );
  if (process.platform === 'linux')
    gauge(registers, 'process_open_fds', 'Open file descriptors', () => readdirSync('/proc/self/fd').length);
  new Gauge({
    name: 'instar_event_loop_lag_seconds',
    help: 'Lag of the main thread’s event loop since the last scrape',
    labelNames: ['quantile'],
    registers,
    collect() {
      // The histogram has the time between two looks, in nanoseconds: the lag is what exceeds their distance.
      const lag = (ns: number): number =>
        Number.isFinite(ns) ? Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000) : 0;
      this.set({ quantile: '0.5' }, lag(delay.percentile(50)));
      this.set({ quantile: '0.99' }, lag(delay.percentile(99)));
      this.set({ quantile: '1' }, lag(delay.max));
      measureOn();
    },
  });
}

const gauge = (registers: Registry[], name: string, help: string, read: () => number): Gauge =>
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
