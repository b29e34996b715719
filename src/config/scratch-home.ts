import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { type Home, homeAt } from './home.ts';

const PROBE = 'x'.repeat(4096);
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
 * cannot be written to. Files that are there are read from the home. The store stays where it is, so that nothing of a
 * conversation is written to the temporary folder. It is removed when the process exits.
 */
export function openScratchHome(home: Home): Home {
  const folder = mkdtempSync(join(tmpdir(), 'instar-scratch-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const scratch = homeAt(folder);
  const kept = Object.entries(home).filter(
    ([name, path]) => !OWN_FILES.includes(name) && !name.endsWith('Dir') && isReadable(path),
  );
  return { ...scratch, ...Object.fromEntries(kept), storeFile: home.storeFile };
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
