import type { ChildProcess } from 'node:child_process';
import type { Log } from '../../base/log.ts';
import { sleep } from '../../base/sleep.ts';
import type { Clock } from '../../core/clock.ts';
import { findFreePort } from './find-free-port.ts';
import { planRestart, RESTART_RULE, type RestartRule } from './restart-rule.ts';
import { endOf, startEngineProcess } from './start-engine-process.ts';

/** The embedded engine in a child process that is restarted whenever it exits. */
export interface SupervisedEngine {
  /** Does not change once the engine was up. */
  readonly url: string;
  /** `down`: it exited and will be restarted after a pause, or it was closed. */
  state(): 'starting' | 'up' | 'down';
  /** The current process. */
  pid(): number | undefined;
  /** Resolves when it is up; rejects when it was closed. */
  ready(): Promise<void>;
  /** Ends the process, by SIGKILL if it takes too long. */
  close(): Promise<void>;
}

export interface SuperviseOptions {
  readonly home: { readonly dir: string };
  readonly log: Log;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** A free one by default. */
  readonly port?: number;
  readonly rule?: Partial<RestartRule>;
}

const GRACE_MS = 5_000;

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** Resolves once the engine is being started. Its crashes never affect this process: exits and output go to the log. */
export async function superviseEngine(options: SuperviseOptions): Promise<SupervisedEngine> {
  const { home, log, clock, env } = options;
  const rule = { ...RESTART_RULE, ...options.rule };
  const closing = new AbortController();
  const waiting = new Set<Waiting>();
  let state: ReturnType<SupervisedEngine['state']> = 'starting';
  let child: ChildProcess | undefined;
  let deaths = 0;
  let upSince: number | undefined;
  // Two daemons that start at the same time begin their search at different ports.
  let port = options.port ?? (await findFreePort(process.pid));
  let isFixed = options.port !== undefined;
  const url = (): string => `http://127.0.0.1:${port}`;

  const comeUp = (): void => {
    state = 'up';
    isFixed = true;
    upSince = clock.monotonic();
    log.info({ url: url(), pid: child?.pid }, `the engine is up${deaths === 0 ? '' : ' again'}`);
    for (const one of waiting) one.resolve();
    waiting.clear();
  };
  /** Runs the process once. Resolves with how it ended. */
  const live = async (): Promise<string> => {
    try {
      // The port may have been taken since; before the engine was up once, another can be chosen.
      if (!isFixed) port = await findFreePort(port);
      if (closing.signal.aborted) return 'closed';
      state = 'starting';
      upSince = undefined;
      const isQuiet = (): boolean => state !== 'up' && deaths >= rule.told;
      child = startEngineProcess({ folder: home.dir, port, env, log, isQuiet, onReady: comeUp });
      return await endOf(child);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      child = undefined;
      state = 'down';
    }
  };
  const supervise = async (): Promise<void> => {
    for (;;) {
      const how = await live();
      if (closing.signal.aborted) return;
      const upMs = upSince === undefined ? 0 : clock.monotonic() - upSince;
      const { inARow, pauseMs, telling } = planRestart(deaths, upMs, rule);
      deaths = inARow;
      const message = `the engine ended (${how}); restarting in ${pauseMs / 1000} s`;
      if (telling === 'each') log.warn(message);
      else if (telling === 'none') log.debug(message);
      else
        log.error(
          `${message}. It ended ${deaths} times in a row: further exits are not logged until it is up`,
        );
      await sleep(pauseMs, closing.signal);
    }
  };
  const over = supervise();

  return {
    get url() {
      return url();
    },
    state: () => state,
    pid: () => child?.pid,
    ready: () =>
      new Promise((resolve, reject) => {
        if (closing.signal.aborted) reject(new Error('the engine was closed'));
        else if (state === 'up') resolve();
        else waiting.add({ resolve, reject });
      }),
    close: async () => {
      if (!closing.signal.aborted) child?.kill('SIGTERM');
      closing.abort();
      for (const one of waiting) one.reject(new Error('the engine was closed'));
      waiting.clear();
      const force = setTimeout(() => child?.kill('SIGKILL'), GRACE_MS);
      await over;
      clearTimeout(force);
    },
  };
}
