import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { asArray, asNumber, asObject, parseJson } from '../../../src/core/json.ts';

/** The state of the daemon at one moment. */
export interface DaemonSample {
  /** Minutes since the beginning of the run, and of this process. */
  readonly minute: number;
  readonly uptime: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly fds: number;
  readonly handles: number;
  readonly threads: number;
  /** Of the event loop since the sample before, in milliseconds. */
  readonly lagP99: number;
  readonly lagMax: number;
  readonly storeMb: number;
  readonly logMb: number;
  readonly lessons: number;
  readonly lost: number;
}

export interface WatchedDaemon {
  readonly port: () => number | undefined;
  /** Begins a new process; resolves when it is ready. */
  start(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<number | null>;
  /** Undefined while it is down. */
  sample(): Promise<DaemonSample | undefined>;
  readonly readKey: (name: 'key' | 'owner-key') => string;
}

const MAIN = path.resolve('dist/src/cli/main.js');
const MB = 1024 * 1024;

/** The built product as a process of its own that can be killed. */
export function createWatchedDaemon(home: string, logFile: string, env: NodeJS.ProcessEnv): WatchedDaemon {
  const began = performance.now();
  let child: ChildProcess | undefined;
  let startedAt = 0;
  let port: number | undefined;
  const minutesSince = (from: number): number => (performance.now() - from) / 60_000;
  /** Homes of versions with one key have no owner key. */
  const readKey = (name: 'key' | 'owner-key'): string => {
    const file = path.join(home, name);
    return readFileSync(existsSync(file) ? file : path.join(home, 'key'), 'utf8').trim();
  };
  const get = async (where: string): Promise<string> => {
    const headers = { authorization: `Bearer ${readKey('owner-key')}` };
    const signal = AbortSignal.timeout(10_000);
    return (await fetch(`http://127.0.0.1:${port}${where}`, { headers, signal })).text();
  };

  return {
    port: () => port,
    readKey,
    start: async () => {
      const started = spawn(process.execPath, [MAIN, 'up', '--port', '0', '--home', home, '--log', 'json'], {
        env: { PATH: process.env.PATH, HOME: home, ...env },
        stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
      });
      child = started;
      startedAt = performance.now();
      if (started.stdout === null) throw new Error('the daemon has no standard output');
      const lines = createInterface({ input: started.stdout });
      port = await new Promise<number>((resolve, reject) => {
        lines.on('line', (line) => {
          const ready = /^instar ready \S+:(\d+)/.exec(line)?.[1];
          if (ready !== undefined) resolve(Number(ready));
        });
        started.once('exit', (code) => reject(new Error(`the daemon ended with ${code}; see ${logFile}`)));
      });
    },
    kill: async () => {
      const gone = child && once(child, 'exit');
      port = undefined;
      child?.kill('SIGKILL');
      await gone;
    },
    stop: async () => {
      const gone = child && once(child, 'exit');
      port = undefined;
      child?.kill('SIGTERM');
      const [code] = (await gone) as [number | null];
      return code;
    },
    sample: async () => {
      const pid = child?.pid;
      if (pid === undefined || port === undefined) return undefined;
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const field = (name: string): number =>
          Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
        const metrics = await get('/metrics');
        const metric = (name: string): number =>
          Number(
            metrics
              .split('\n')
              .find((line) => line.startsWith(`${name} `))
              ?.split(' ')[1] ?? Number.NaN,
          );
        const report = asObject(parseJson(await get('/api/status')));
        const states = Object.values(asObject(asObject(report.library).lessons));
        return {
          minute: minutesSince(began),
          uptime: minutesSince(startedAt),
          rssMb: field('VmRSS') / 1024,
          heapMb: metric('nodejs_heap_used_bytes') / MB,
          fds: readdirSync(`/proc/${pid}/fd`).length,
          handles: metric('nodejs_active_resources'),
          threads: field('Threads'),
          lagP99: 1000 * metric('instar_event_loop_lag_seconds{quantile="0.99"}'),
          lagMax: 1000 * metric('instar_event_loop_lag_seconds{quantile="1"}'),
          storeMb: sizeOf(path.join(home, 'instar.sqlite')),
          logMb: sizeOf(path.join(home, 'instar.sqlite-wal')),
          lessons: asArray(states).reduce((sum: number, value) => sum + (asNumber(value) ?? 0), 0),
          lost: asNumber(asObject(report.recording).lost) ?? Number.NaN,
        };
      } catch {
        // It was killed while it was asked.
        return undefined;
      }
    },
  };
}

const sizeOf = (file: string): number => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MB;
