import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { asObject, asString, parseJson } from '../core/json.ts';
import type { Home } from './home.ts';

/** Homes have had this file since 0.2.0. */
const BEFORE_THE_FILE = '0.1.0';

const versionFile = (home: Home): string => join(home.dir, 'version.json');

/** The version of Instar that last ran on a home; undefined for a home that nothing has run on. */
export function readHomeVersion(home: Home): string | undefined {
  try {
    const { version } = asObject(parseJson(readFileSync(versionFile(home), 'utf8')));
    return asString(version) ?? BEFORE_THE_FILE;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return BEFORE_THE_FILE;
    return statSync(home.storeFile, { throwIfNoEntry: false }) === undefined ? undefined : BEFORE_THE_FILE;
  }
}

/** Notes which version runs on a home, for the next upgrade. A home that cannot be written to keeps the older note. */
export function noteHomeVersion(home: Home, version: string): void {
  if (readHomeVersion(home) === version && statSync(versionFile(home), { throwIfNoEntry: false })) return;
  try {
    mkdirSync(home.dir, { recursive: true, mode: 0o700 });
    replaceFileSync(versionFile(home), `${JSON.stringify({ version })}\n`, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}
