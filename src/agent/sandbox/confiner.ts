import path from 'node:path';
import { FILTER_DESCRIPTOR } from './seccomp-filter.ts';
import type { WorkspaceLimits } from './workspace-limits.ts';

/** Where a confined command sees its workspace. */
const WORKSPACE_PATH = '/workspace';
/** The PATH outside and inside of the sandbox. */
export const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/**
 * System folders that a command may read. Of `/etc` only what programs need to start: the rest describes the machine, and a
 * command that runs as root could read all of it.
 */
const SYSTEM_FOLDERS: readonly string[] = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const SYSTEM_FILES: readonly string[] = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
];
/** The user id of commands when this process is root. No other user should have it. */
const DROPPED_ID = 65_533;

/** The paths that a confined command gets, as they are on the host. */
export interface SandboxPaths {
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
  /** The seccomp filter of commands, read from FILTER_DESCRIPTOR; absent when there is none. */
  readonly filter?: Uint8Array;
  /** The command line that installs the filter, where `wrap` does not. */
  readonly loader?: readonly string[];
  wrap(
    place: SandboxPaths,
    line: readonly string[],
  ): { readonly file: string; readonly args: readonly string[] };
}

/** Root drops to another user id; other users keep their own through a user namespace. */
const ownerFor = (isRoot: boolean): { readonly owner?: number } => (isRoot ? { owner: DROPPED_ID } : {});

interface LineParts {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly limits: WorkspaceLimits;
  readonly cpuSeconds: number;
  readonly owner: number | undefined;
  /** Installs the filter: after privileges are dropped, which it would refuse, and before the command. */
  readonly loader?: readonly string[] | undefined;
}

/**
 * The command line inside of the sandbox: it drops privileges, sets limits, then runs the command as a child of a shell, so
 * that it is not PID 1, which ignores signals by default. The shell writes `ready` to descriptor 3 and closes it: without
 * that line it was the sandbox that failed, not the command.
 */
export function confinedLine({
  command,
  env,
  limits,
  cpuSeconds,
  owner,
  loader = [],
}: LineParts): readonly string[] {
  const drop = owner === undefined ? [] : [`--reuid=${owner}`, `--regid=${owner}`, '--clear-groups'];
  const pairs = Object.entries({
    PATH: TOOL_PATH,
    HOME: WORKSPACE_PATH,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...env,
  });
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
    ...loader,
    ...['env', '-i', ...pairs.map(([name, value]) => `${name}=${value}`)],
    ...['sh', '-c', 'echo ready >&3; exec 3>&-; "$@"; exit $?', 'sh', ...command],
  ];
}

interface BubblewrapOptions {
  readonly filter?: Uint8Array | undefined;
  /** Whether this version has `--disable-userns`, which needs a user namespace of its own. */
  readonly canDisableUserns?: boolean;
}

/** Confines commands with bubblewrap, the sandbox of Flatpak. `file` is the program. */
export function createBubblewrap(
  file: string,
  isRoot: boolean,
  { filter, canDisableUserns = false }: BubblewrapOptions = {},
): Confiner {
  return {
    name: 'bubblewrap',
    ...ownerFor(isRoot),
    ...(filter === undefined ? {} : { filter }),
    wrap: ({ files, scratch, readable }, line) => ({
      file,
      args: [
        ...(isRoot ? [] : ['--unshare-user', '--uid', '1000', '--gid', '1000']),
        ...(canDisableUserns && !isRoot ? ['--disable-userns'] : []),
        ...(filter === undefined ? [] : ['--seccomp', String(FILTER_DESCRIPTOR)]),
        ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'],
        ...SYSTEM_FOLDERS.flatMap((name) => ['--ro-bind-try', `/${name}`, `/${name}`]),
        ...['--dir', '/etc'],
        ...SYSTEM_FILES.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
        ...['--proc', '/proc', '--dev', '/dev', '--bind', scratch, '/dev/shm', '--bind', scratch, '/tmp'],
        ...['--bind', files, WORKSPACE_PATH],
        ...readable.flatMap((folder) => [...makeAbove(folder), '--ro-bind', folder, folder]),
        ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', WORKSPACE_PATH, '--'],
        ...line,
      ],
    }),
  };
}

/** Creates the parent folders explicitly: bubblewrap makes implicit ones accessible to root only. */
const makeAbove = (folder: string): readonly string[] => {
  const above = path.dirname(folder);
  return above === '/' ? [] : [...makeAbove(above), '--dir', above];
};

/**
 * Builds the root file system of a command: read-only system folders and the workspace, nothing else of the host. It runs in
 * its own namespaces, so that no mount outlives the command. The parts of /proc that control the kernel are read-only. The
 * command's root is a folder of the new root: the kernel creates no user namespace for a process that is chrooted, and
 * without capabilities none leaves its root, outside of which there is nothing else.
 */
const BUILD_ROOT = `set -eu; umask 022
files=$1 scratch=$2 root=$3; shift 3
fixed() { mount --bind "$1" "$2"; mount -o remount,bind,ro,nosuid,nodev "$2"; }
ours() { mount --bind "$1" "$2"; mount -o remount,bind,nosuid,nodev "$2"; }
mount -t tmpfs -o size=1m,mode=0755,nosuid,nodev tmpfs "$root"
cd "$root"
mkdir in old
cd in
mkdir proc dev dev/shm etc tmp .${WORKSPACE_PATH}
for name in ${SYSTEM_FOLDERS.join(' ')}; do
  if [ -L "/$name" ]; then ln -s "$(readlink "/$name")" "$name"
  elif [ -d "/$name" ]; then mkdir "$name"; fixed "/$name" "$name"; fi
done
for name in ${SYSTEM_FILES.join(' ')}; do
  if [ -d "/etc/$name" ]; then mkdir "etc/$name"; fixed "/etc/$name" "etc/$name"
  elif [ -e "/etc/$name" ]; then : > "etc/$name"; fixed "/etc/$name" "etc/$name"; fi
done
for name in null zero full random urandom; do : > "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
mount -t proc -o nosuid,nodev,noexec proc proc
for name in sys sysrq-trigger irq bus; do
  if [ -e "proc/$name" ]; then mount --bind "proc/$name" "proc/$name"; mount -o remount,bind,ro,nosuid,nodev,noexec "proc/$name"; fi
done
ours "$scratch" tmp; ours "$scratch" dev/shm; ours "$files" .${WORKSPACE_PATH}
while [ "$1" != -- ]; do mkdir -p ".$1"; fixed "$1" ".$1"; shift; done; shift
! command -v ip > /dev/null || ip link set lo up 2> /dev/null || :
cd "$root"
# For the commands of this script that follow.
for name in etc proc ${SYSTEM_FOLDERS.join(' ')}; do ln -s "in/$name" "$name"; done
pivot_root . old
umount -l /old; rmdir /old
mount -o remount,bind,ro,nosuid,nodev /
exec chroot /in sh -c 'cd ${WORKSPACE_PATH}; exec "$@"' sh "$@"`;

/** Confines commands with kernel namespaces through unshare of util-linux. `file` is the program. */
export function createUnshare(
  file: string,
  isRoot: boolean,
  { filter, loader }: Pick<Confiner, 'filter' | 'loader'> = {},
): Confiner {
  return {
    name: 'unshare',
    ...ownerFor(isRoot),
    ...(filter === undefined || loader === undefined ? {} : { filter, loader }),
    wrap: ({ files, scratch, mountPoint, readable }, line) => ({
      // The command is killed when the parent dies, since nothing else would stop it then.
      file: 'setpriv',
      args: [
        ...['--pdeathsig=KILL', '--', file],
        ...(isRoot ? [] : ['--user', '--map-root-user']),
        ...['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child'],
        ...['sh', '-c', BUILD_ROOT, 'sh', files, scratch, mountPoint, ...readable, '--', ...line],
      ],
    }),
  };
}
