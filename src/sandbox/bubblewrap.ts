import path from 'node:path';
import { type Confiner, INSIDE, ownerFor, SYSTEM_FILES, SYSTEM_FOLDERS } from './confiner.ts';

/** Confines commands with bubblewrap, the sandbox of Flatpak. `file` is the program. */
export function createBubblewrap(file: string, isRoot: boolean): Confiner {
  return {
    name: 'bubblewrap',
    ...ownerFor(isRoot),
    wrap: ({ files, scratch, readable }, line) => ({
      file,
      args: [
        ...(isRoot ? [] : ['--unshare-user', '--uid', '1000', '--gid', '1000']),
        ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'],
        ...SYSTEM_FOLDERS.flatMap((name) => ['--ro-bind-try', `/${name}`, `/${name}`]),
        ...['--dir', '/etc'],
        ...SYSTEM_FILES.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
        ...['--proc', '/proc', '--dev', '/dev', '--bind', scratch, '/dev/shm', '--bind', scratch, '/tmp'],
        ...['--bind', files, INSIDE],
        ...readable.flatMap((folder) => [...makeAbove(folder), '--ro-bind', folder, folder]),
        ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', INSIDE, '--'],
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
