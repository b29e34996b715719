import { createHash } from 'node:crypto';
import { accessSync, constants, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { type Home, homeAt } from './home.ts';

/** More than a daemon writes into a home as it starts: keys, a salt, a lock, the first log lines. */
const PROBE = 'x'.repeat(64 * 1024);
/** What a daemon writes as it starts; elsewhere another daemon's would be overwritten. */
const OWN_FILES: readonly string[] = ['dir', 'lockFile', 'daemonFile'];

/** Why no file can be written into a home; undefined when one can be. Tried, since modes do not tell for root or a full disk. */
export function findWriteFault(home: Home): string | undefined {
  const file = join(home.dir, `.write-test-${process.pid}`);
  try {
    replaceFileSync(file, PROBE);
    rmSync(file, { force: true });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/**
 * The same home with everything that a daemon writes in a temporary folder, so that requests are served although the home
 * cannot be written to. Files that are there are read from the home. The record and its copies stay where they are, so that
 * nothing of a conversation is written to the temporary folder, and are written again once the disk has room. The folder is removed
 * when the process that created it exits.
 */
export function openScratchHome(home: Home): Home {
  const scratch = homeAt(createScratchFolder(home));
  const kept = Object.entries(home).filter(
    ([name, path]) => !OWN_FILES.includes(name) && !name.endsWith('Dir') && isReadable(path),
  );
  // Whatever holds words of a conversation belongs into the home alone.
  const { storeFile, spoolFile, snapshotDir, promptsDir } = home;
  return { ...scratch, ...Object.fromEntries(kept), storeFile, spoolFile, snapshotDir, promptsDir };
}

/** The same for every process, so that commands find the daemon. */
const scratchFolderOf = (home: Home): string => {
  const name = createHash('sha256').update(home.dir).digest('hex').slice(0, 16);
  return join(tmpdir(), `instar-scratch-${process.getuid?.() ?? 0}-${name}`);
};

/** Another user could have made the folder, to be asked in place of the daemon: it must be ours alone. */
function isOwnFolder(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return false;
  return process.platform === 'win32' || (stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0);
}

function createScratchFolder(home: Home): string {
  let folder = scratchFolderOf(home);
  // A killed daemon has left it, or another one serves this home: then the lock in it says so.
  if (isOwnFolder(folder)) return folder;
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    folder = mkdtempSync(join(tmpdir(), 'instar-scratch-'));
  }
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Where a daemon that cannot write into this home has its record; undefined when there is no such daemon. */
export function scratchDaemonFile(home: Home): string | undefined {
  const folder = scratchFolderOf(home);
  return isOwnFolder(folder) ? homeAt(folder).daemonFile : undefined;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
