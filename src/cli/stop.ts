import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { lockFile } from '../base/file-lock.ts';
import { type DaemonRecord, findDaemon, readDaemonFile, removeDaemonFile } from '../config/daemon-file.ts';
import { findDaemonProcess, hasExited, probeDaemon } from '../config/daemon-process.ts';
import { type Home, homeAt } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { duration, plural } from '../text/phrases.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode, failure } from './context.ts';

/** The daemon gives requests in progress 30 seconds, and needs a moment to close its files. */
const GRACE_S = 45;

export const declareStop: DeclareCommand = (command, act) =>
  void command
    .option(
      '--grace <seconds>',
      `how long to wait for its end (default: ${GRACE_S}; requests in progress get up to 30 s)`,
      parseSeconds,
    )
    .option('--force', 'end the process after that time, whatever it does')
    .addHelpText(
      'after',
      `
Requests in progress are finished first. The exit code is 0 when Instar is not
running afterwards, also when it was not running before; 1 when it still runs.

Example:
  $ instar stop --grace 5 --force
`,
    )
    .action(act(stop));

interface StopOptions {
  readonly grace?: number;
  readonly force?: true;
}

/** How a call ended, for `--json`. */
interface StopResult {
  readonly stopped: boolean;
  readonly running: false;
  readonly pid?: number;
  readonly tookMs?: number;
  /** Whether the process was ended before it had finished. */
  readonly forced?: boolean;
  /** The record of a daemon that had ended without a clean stop was removed. */
  readonly staleRecord?: true;
}

/** Stops the daemon of this home. A process that is not certainly that daemon is never signalled. */
async function stop(options: StopOptions, context: CommandContext): Promise<ExitCode> {
  const home = homeAt(context.homeDir);
  const { printer } = context;
  const end = (result: StopResult, text: string): ExitCode => {
    printer.document(result);
    printer.line(text);
    return EXIT.ok;
  };
  const record = await findRecord(home);
  if (record === undefined) {
    if (!existsSync(home.daemonFile))
      return end({ stopped: false, running: false }, `Instar is not running (home ${home.dir}).`);
    removeDaemonFile(home, undefined);
    return end(
      { stopped: false, running: false, staleRecord: true },
      `Instar is not running; an unreadable ${home.daemonFile} was removed.`,
    );
  }
  const { pid } = record;
  const state = await findDaemonProcess(home, record, readKey(home, context.env)?.key);
  if (state !== 'ours') {
    await refuseElsewhere(home, record, state);
    removeDaemonFile(home, record);
    return end(
      { stopped: false, running: false, pid, staleRecord: true },
      `Instar is not running: its last daemon (pid ${pid}) ended without a clean stop. Its record was removed.`,
    );
  }
  const begunAt = performance.now();
  const forced = await endProcess(home, record, options, context);
  removeDaemonFile(home, record);
  const tookMs = Math.round(performance.now() - begunAt);
  return end(
    { stopped: true, running: false, pid, tookMs, forced },
    `Stopped Instar (pid ${pid})${forced ? ', before it had finished' : ''} after ${duration(tookMs)}.`,
  );
}

const STARTING_MS = 10_000;
const POLL_MS = 50;

/**
 * The record of the daemon. A process that has the home and no record is a daemon that starts, or a command: it is waited
 * for.
 */
async function findRecord(home: Home): Promise<DaemonRecord | undefined> {
  const until = performance.now() + STARTING_MS;
  for (;;) {
    const record = readDaemonFile(home);
    if (record !== undefined || !isLocked(home)) return record;
    if (performance.now() > until)
      throw failure(
        `another Instar process uses ${home.dir} and has no readable ${home.daemonFile}, so that it cannot be identified`,
        'wait for the command that uses it, or end that process by hand',
      );
    await sleep(POLL_MS);
  }
}

function isLocked(home: Home): boolean {
  if (!existsSync(home.lockFile)) return false;
  const lock = lockFile(home.lockFile);
  lock?.release();
  return lock === undefined;
}

/** Throws when a daemon answers that is not a process of this machine, or cannot be told apart from another program. */
async function refuseElsewhere(home: Home, record: DaemonRecord, state: 'gone' | 'unknown'): Promise<void> {
  const { pid, url } = record;
  if ((await findDaemon(home)) !== undefined)
    throw failure(
      `${url} answers, but process ${pid} of this machine is not its daemon: it runs in a container, on another machine, or as another user`,
      `stop it where it was started; if ${url} is another program, remove ${home.daemonFile}`,
    );
  if (state === 'unknown')
    throw failure(
      `process ${pid} does not answer at ${url}, and cannot be identified as Instar`,
      `look at it (${lookAt(pid)}); if it is another program, remove ${home.daemonFile}`,
    );
}

const lookAt = (pid: number): string =>
  process.platform === 'win32' ? `tasklist /fi "PID eq ${pid}"` : `ps -p ${pid}`;

const PROGRESS_MS = 5_000;
/** After a second signal the daemon exits at once; one that does not is killed after this time. */
const LEAVING_MS = 2_000;

/** Asks the process to end and waits for it. True when it had to be ended by force. Throws when it still runs. */
async function endProcess(
  home: Home,
  record: DaemonRecord,
  { grace = GRACE_S, force }: StopOptions,
  { printer, env }: CommandContext,
): Promise<boolean> {
  const { pid, url } = record;
  // A second signal would cut off the requests that are being finished.
  const probe = await probeDaemon(record);
  const isStopping = probe === 'refused';
  const busy = probe === 'answers' ? await countInFlight(home, env) : undefined;
  printer.note(
    isStopping ? `Instar (pid ${pid}) is stopping already` : `Stopping Instar at ${url} (pid ${pid})`,
    busy ? `; ${plural(busy, 'request')} in progress will be finished first` : '',
    '.',
  );
  // Windows has no signal that asks: the process would end with its requests.
  const mayAsk =
    process.platform !== 'win32' ||
    (await isIdleWithin(grace * 1_000, async () => (busy === undefined ? 0 : countInFlight(home, env))));
  if (!isStopping && mayAsk) signal(record, 'SIGTERM');
  if (
    await hasEnded(record, mayAsk ? grace * 1_000 : 0, (ms) =>
      printer.note(`Waiting for its end (${duration(ms)}).`),
    )
  )
    return false;
  if (!force)
    throw failure(
      `Instar (pid ${pid}) still runs after ${duration(grace * 1_000)}: it finishes requests in progress`,
      'wait and call "instar stop" again, or end it now: instar stop --grace 0 --force',
    );
  printer.note(`Ending process ${pid} by force.`);
  signal(record, 'SIGTERM');
  if (await hasEnded(record, LEAVING_MS)) return true;
  signal(record, 'SIGKILL');
  if (await hasEnded(record, LEAVING_MS)) return true;
  throw failure(`process ${pid} could not be ended, not even by SIGKILL`, `look at it: ${lookAt(pid)}`);
}

async function countInFlight(home: Home, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const { askStatus } = await import('../api/daemon-status.ts');
  const status = await askStatus(home, env).catch(() => undefined);
  return status !== undefined && 'counts' in status ? status.counts.inFlight : undefined;
}

/** Whether no request is in progress at some moment of this time. A count that cannot be had stands for none. */
export async function isIdleWithin(
  withinMs: number,
  inFlight: () => Promise<number | undefined>,
): Promise<boolean> {
  const begunAt = performance.now();
  for (;;) {
    if (((await inFlight()) ?? 0) === 0) return true;
    if (performance.now() - begunAt >= withinMs) return false;
    await sleep(POLL_MS);
  }
}

function signal({ pid }: DaemonRecord, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    throw failure(
      `process ${pid} could not be stopped (${code ?? String(error)})`,
      'run the command as the user who started it',
    );
  }
}

/** Whether the process ends within this time. `tell` is called every few seconds. */
async function hasEnded(
  record: DaemonRecord,
  withinMs: number,
  tell?: (waitedMs: number) => void,
): Promise<boolean> {
  const begunAt = performance.now();
  let toldAt = begunAt;
  for (;;) {
    if (hasExited(record)) return true;
    const now = performance.now();
    if (now - begunAt >= withinMs) return false;
    if (now - toldAt >= PROGRESS_MS) {
      toldAt = now;
      tell?.(now - begunAt);
    }
    await sleep(POLL_MS);
  }
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}(\.\d+)?$/.test(text))
    throw new InvalidArgumentError('Give a number of seconds from 0 to 9999.');
  return seconds;
}
