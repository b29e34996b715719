import path from 'node:path';
import { type Confiner, INSIDE, ownerFor, SYSTEM_FILES, SYSTEM_FOLDERS } from './confiner.ts';

/** A wall of bubblewrap's, as Flatpak has it. `file` is the program. */
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

/** Folders that are made only to hold another one would be closed to everyone but root. */
const makeAbove = (folder: string): readonly string[] => {
  const above = path.dirname(folder);
  return above === '/' ? [] : [...makeAbove(above), '--dir', above];
};
