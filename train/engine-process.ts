import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Log } from '../src/base/log.ts';
import { PACKAGE_ROOT } from '../src/base/package.ts';
import { sleep } from '../src/base/sleep.ts';
import type { Clock } from '../src/core/clock.ts';
import { errorMessage } from '../src/core/failure.ts';
import { asObject, asString, parseJson } from '../src/core/json.ts';

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
  /** What its clients send. The process gets it in its environment, since other users can read command lines. */
  readonly key: string;
  /** A free one by default. */
  readonly port?: number;
  readonly rule?: Partial<RestartRule>;
}

const GRACE_MS = 5_000;

interface ReadyWaiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Resolves once the engine is being started. Its crashes never affect this process: exits and output go to the log. */
export async function superviseEngine(options: SuperviseOptions): Promise<SupervisedEngine> {
  const { home, log, clock, env, key } = options;
  const rule = { ...RESTART_RULE, ...options.rule };
  const closing = new AbortController();
  const waiting = new Set<ReadyWaiter>();
  let state: ReturnType<SupervisedEngine['state']> = 'starting';
  let child: ChildProcess | undefined;
  let deaths = 0;
  let upSince: number | undefined;
  // Two daemons that start at the same time, in two processes or in one, begin their search at different ports.
  let port = options.port ?? (await findFreePort(FIRST + randomInt(COUNT)));
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
      child = spawnEngine({ folder: home.dir, port, env, key, log, isQuiet, onReady: comeUp });
      return await describeExit(child);
    } catch (error) {
      return errorMessage(error);
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

interface EngineProcessOptions {
  /** The home folder. */
  readonly folder: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  readonly key: string;
  readonly log: Log;
  /** Whether its output is only logged at debug level now. */
  readonly isQuiet: () => boolean;
  readonly onReady: () => void;
}

/** The environment variables it gets besides its own key. No other key is among them. */
const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'SystemRoot'];

/** The built command, also when run from sources, as in tests: a process cannot read TypeScript. */
const MAIN = fileURLToPath(new URL('dist/src/cli/main.js', PACKAGE_ROOT));

/** Starts `instar lab engine up` on loopback. It exits with this process, however that ends: their IPC channel closes. */
function spawnEngine(options: EngineProcessOptions): ChildProcess {
  const { folder, port, env, key, log, isQuiet, onReady } = options;
  const child = spawn(
    process.execPath,
    [MAIN, 'lab', 'engine', 'up', '--port', String(port), '--home', folder],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...Object.fromEntries(ENVIRONMENT.map((name) => [name, env[name]])),
        INSTAR_ENGINE_KEY: key,
      },
      // Ctrl-C reaches every process of the terminal's group; this one must outlive its users, and we end it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    },
  );
  if (child.stderr !== null) relayLines(child.stderr, 'engine', log, isQuiet);
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('instar engine ready ')) onReady();
    });
  return child;
}

/** How a process ended, as text, also when it could not be started. Resolves after its output was read. */
const describeExit = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message);
    });
  });

/** When a process that exited is restarted, and how much of it is logged. */
export interface RestartRule {
  /** The pause after the first exit; it doubles with every further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Consecutive exits that are logged. */
  readonly told: number;
  /** After this uptime the next exit counts as the first. */
  readonly wellAfterMs: number;
}

export const RESTART_RULE: RestartRule = {
  firstMs: 100,
  longestMs: 60_000,
  told: 5,
  wellAfterMs: 60_000,
};

interface Restart {
  readonly inARow: number;
  readonly pauseMs: number;
  /** `last`: further exits are not logged. */
  readonly telling: 'each' | 'last' | 'none';
}

/** `inARow`: consecutive exits before this one; `upMs`: its uptime, 0 when it never was up. */
export function planRestart(inARow: number, upMs: number, rule: RestartRule = RESTART_RULE): Restart {
  const now = upMs >= rule.wellAfterMs ? 1 : inARow + 1;
  const pauseMs = Math.min(rule.longestMs, rule.firstMs * 2 ** Math.min(now - 1, 30));
  return { inARow: now, pauseMs, telling: now < rule.told ? 'each' : now === rule.told ? 'last' : 'none' };
}

/** Writes a child process's log lines to our log with its name and their own level. Other output is a warning. */
function relayLines(stream: Readable, name: string, log: Log, isQuiet: () => boolean): void {
  createInterface({ input: stream }).on('line', (line) => {
    if (line.trim() === '') return;
    const { level, msg, time: _, ...fields } = asObject(parseJson(line));
    const text = asString(msg);
    if (isQuiet()) log.debug({ from: name }, text ?? line);
    else if (text === undefined) log.warn({ from: name }, line);
    else if (level === 'error' || level === 'fatal') log.error({ from: name, ...fields }, text);
    else if (level === 'warn') log.warn({ from: name, ...fields }, text);
    else log.debug({ from: name, ...fields }, text);
  });
}

/** Below the ephemeral range, so that no outgoing connection takes the port while nobody listens on it. */
const FIRST = 20_000;
const COUNT = 10_000;

/** The first free loopback port from `start` on, wrapping within the range. */
export async function findFreePort(start: number): Promise<number> {
  for (let tried = 0; tried < COUNT; tried++) {
    const port = FIRST + ((((start - FIRST + tried) % COUNT) + COUNT) % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false);
      else reject(new Error(`cannot listen on loopback: ${message}`));
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
