import type { WorkspaceLimits } from './limits.ts';

/** Where a confined command sees its workspace. */
export const INSIDE = '/workspace';
/** The PATH outside and inside of the sandbox. */
export const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/**
 * System folders that a command may read. Of `/etc` only what programs need to start: the rest describes the machine, and a
 * command that runs as root could read all of it.
 */
export const SYSTEM_FOLDERS: readonly string[] = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
export const SYSTEM_FILES: readonly string[] = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
];
/** The user id of commands when this process is root. No other user should have it. */
const DROPPED_ID = 65_533;

/** The paths that a confined command gets, as they are on the host. */
export interface Place {
  /** The workspace's files. */
  readonly files: string;
  /** Becomes `/tmp` and `/dev/shm`: on the disk, so that it counts towards the limit and cannot fill the memory. */
  readonly scratch: string;
  /** An empty folder, as a mount point. */
  readonly mountPoint: string;
  /** Further folders that are readable at the same path. */
  readonly readable: readonly string[];
}

/** Wraps a command line into one that runs it in a sandbox. */
export interface Confiner {
  readonly name: 'bubblewrap' | 'unshare';
  /** The owner of files that a command writes; absent when it is the user of this process. */
  readonly owner?: number;
  wrap(place: Place, line: readonly string[]): { readonly file: string; readonly args: readonly string[] };
}

/** Root drops to another user id; other users keep their own through a user namespace. */
export const ownerFor = (isRoot: boolean): { readonly owner?: number } =>
  isRoot ? { owner: DROPPED_ID } : {};

export interface LineParts {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly limits: WorkspaceLimits;
  readonly cpuSeconds: number;
  readonly owner: number | undefined;
}

/**
 * The command line inside of the sandbox: it drops privileges, sets limits, then runs the command as a child of a shell, so
 * that it is not PID 1, which ignores signals by default. The shell writes `ready` to descriptor 3 and closes it: without
 * that line it was the sandbox that failed, not the command.
 */
export function confinedLine({ command, env, limits, cpuSeconds, owner }: LineParts): readonly string[] {
  const drop = owner === undefined ? [] : [`--reuid=${owner}`, `--regid=${owner}`, '--clear-groups'];
  const pairs = Object.entries({ PATH: TOOL_PATH, HOME: INSIDE, TMPDIR: '/tmp', LANG: 'C.UTF-8', ...env });
  return [
    ...[
      'setpriv',
      '--no-new-privs',
      '--inh-caps=-all',
      '--ambient-caps=-all',
      '--bounding-set=-all',
      ...drop,
    ],
    ...['--pdeathsig=KILL', '--'],
    ...[
      'prlimit',
      '--core=0',
      `--cpu=${cpuSeconds}`,
      `--fsize=${limits.bytes}`,
      `--data=${limits.memoryBytes}`,
    ],
    ...[`--nproc=${limits.processes}`, '--nofile=1024', '--'],
    ...['env', '-i', ...pairs.map(([name, value]) => `${name}=${value}`)],
    ...['sh', '-c', 'echo ready >&3; exec 3>&-; "$@"; exit $?', 'sh', ...command],
  ];
}
