import { type Confiner, INSIDE, ownerFor, SYSTEM_FILES, SYSTEM_FOLDERS } from './confiner.ts';

/**
 * Builds the root file system of a command: read-only system folders and the workspace, nothing else of the host. It runs in
 * its own namespaces, so that no mount outlives the command. The parts of /proc that control the kernel are read-only.
 */
const BUILD_ROOT = `set -eu; umask 022
files=$1 scratch=$2 root=$3; shift 3
fixed() { mount --bind "$1" "$2"; mount -o remount,bind,ro,nosuid,nodev "$2"; }
ours() { mount --bind "$1" "$2"; mount -o remount,bind,nosuid,nodev "$2"; }
mount -t tmpfs -o size=1m,mode=0755,nosuid,nodev tmpfs "$root"
cd "$root"
mkdir proc dev dev/shm etc tmp old .${INSIDE}
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
ours "$scratch" tmp; ours "$scratch" dev/shm; ours "$files" .${INSIDE}
while [ "$1" != -- ]; do mkdir -p ".$1"; fixed "$1" ".$1"; shift; done; shift
! command -v ip > /dev/null || ip link set lo up 2> /dev/null || :
pivot_root . old
umount -l /old; rmdir /old
mount -o remount,bind,ro,nosuid,nodev /
cd ${INSIDE}
exec "$@"`;

/** Confines commands with kernel namespaces through unshare of util-linux. `file` is the program. */
export function createUnshare(file: string, isRoot: boolean): Confiner {
  return {
    name: 'unshare',
    ...ownerFor(isRoot),
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
