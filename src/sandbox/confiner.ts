import type { WorkspaceLimits } from './limits.ts';

/** Where a confined command sees its workspace. */
export const INSIDE = '/workspace';
/** What is looked up by name, before and behind the wall. */
export const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/**
 * System folders a command may read. Of `/etc` only what programs need to start: the rest tells of the machine, and to
 * one who runs as root it tells everything.
 */
export const SYSTEM_FOLDERS: readonly string[] = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
export const SYSTEM_FILES: readonly string[] = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
];
/** Who commands run as when we are root; nobody else is to have this number. */
const DROPPED_ID = 65_533;

/** What a wall is built around. All are paths of the machine. */
export interface Place {
  /** The workspace's files. */
  readonly files: string;
  /** Becomes `/tmp` and `/dev/shm`: on disk, so that it counts and cannot fill the memory. */
  readonly scratch: string;
  /** An empty folder, to mount on. */
  readonly mountPoint: string;
  /** Folders that can be read at the same path. */
  readonly readable: readonly string[];
}

/** Builds a wall: a command line that runs another one behind it. */
export interface Confiner {
  readonly name: 'bubblewrap' | 'unshare';
  /** Who owns what a command writes; absent when that is us. */
  readonly owner?: number;
  wrap(place: Place, line: readonly string[]): { readonly file: string; readonly args: readonly string[] };
}

/** As root we can drop to another user; else the kernel maps us to ourselves. */
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
 * What runs behind the wall: rights and limits are given up for good, then the command runs as a child of a shell, so
 * that it is not the first process of its world, which signals do not reach. The shell says `ready` on descriptor 3 and
 * closes it: whoever hears nothing knows that the wall, not the command, failed.
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
