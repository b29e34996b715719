import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { asNumber, asObject, parseJson } from '../core/json.ts';
import { callDaemon } from './call-daemon.ts';
import { type DaemonRecord, isAlive } from './daemon-file.ts';
import type { Home } from './home.ts';

/**
 * What became of the process that wrote a daemon's record.
 *   ours     it runs and has this home open: it may be signalled
 *   gone     no such process, or the number belongs to another program by now
 *   unknown  it cannot be told whether that process is the daemon
 */
type DaemonProcess = 'ours' | 'gone' | 'unknown';

/**
 * A process number is reused after a crash or a restart of the machine, and a container has numbers of its own: the process
 * counts as the daemon only while it has the lock file of this home open. Where that cannot be seen, a program on the
 * daemon's port has to report the same number, and its command line has to be that of Instar.
 */
export async function findDaemonProcess(
  home: Home,
  record: DaemonRecord,
  key?: string,
  platform: NodeJS.Platform = process.platform,
): Promise<DaemonProcess> {
  // After a restart a container may give the same number again, also to this process.
  if (hasExited(record) || record.pid === process.pid) return 'gone';
  const isOpen = platform === 'win32' ? undefined : hasOpen(record.pid, home.lockFile);
  if (isOpen !== undefined) return isOpen ? 'ours' : 'gone';
  const reported = await reportedPid(record, key);
  return reported === record.pid && isInstar(record.pid, platform) ? 'ours' : 'unknown';
}

/** Whether the process has ended, also when nobody has asked for its exit code yet. */
export function hasExited(record: DaemonRecord): boolean {
  if (!isAlive(record)) return true;
  if (process.platform !== 'linux') return false;
  try {
    // `PID (NAME) STATE …`; the name may contain anything.
    return /\) Z[^)]*$/.test(readFileSync(`/proc/${record.pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Whether a process has a file open; undefined when the system does not tell. */
function hasOpen(pid: number, file: string): boolean | undefined {
  try {
    const path = realpathSync(file);
    if (process.platform === 'linux') return openFilesOf(pid).includes(path);
    const listed = run('lsof', ['-a', '-p', String(pid), '-Fn', '--', path]);
    return listed.split('\n').some((line) => line === `n${path}`);
  } catch (error) {
    // `lsof` ends with 1 when it finds nothing.
    return (error as { status?: unknown }).status === 1 ? false : undefined;
  }
}

function openFilesOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      // Closed since it was listed.
      return [];
    }
  });
}

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', timeout: 5_000, stdio: ['ignore', 'pipe', 'ignore'] });

const TIMEOUT_MS = 2_000;

async function reportedPid(record: DaemonRecord, key: string | undefined): Promise<number | undefined> {
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const reply = await callDaemon(record, '/api/status', { headers, timeoutMs: TIMEOUT_MS });
    return asNumber(asObject(parseJson(reply.text)).pid);
  } catch {
    return undefined;
  }
}

/** The program that prints the command line of a process. */
export const commandLineCall = (
  pid: number,
  platform: NodeJS.Platform,
): readonly [program: string, args: readonly string[]] =>
  platform === 'win32'
    ? [
        'powershell',
        [
          ...['-NoProfile', '-NonInteractive', '-Command'],
          `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`,
        ],
      ]
    : ['ps', ['-o', 'command=', '-p', String(pid)]];

export const isDaemonCommand = (command: string): boolean =>
  /instar|main\.js/.test(command) && /\sup\b/.test(command);

function isInstar(pid: number, platform: NodeJS.Platform): boolean {
  try {
    return isDaemonCommand(run(...commandLineCall(pid, platform)));
  } catch {
    return false;
  }
}

/** `refused`: nothing listens on the daemon's port any more, as when it finishes its last requests. */
export async function probeDaemon(record: DaemonRecord): Promise<'answers' | 'refused' | 'silent'> {
  try {
    await callDaemon(record, '/healthz', { timeoutMs: TIMEOUT_MS });
    return 'answers';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'silent';
  }
}
