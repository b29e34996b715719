import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';
import { ConfigError } from './config-error.ts';
import type { Home } from './home.ts';

interface InstarKey {
  readonly key: string;
  readonly source: 'environment' | 'file' | 'created';
  /** Whether the file was readable by others and has been set to mode 600. */
  readonly tightened: boolean;
}

/** Sent in a header, so printable ASCII without spaces; long enough that it cannot be guessed. */
const KEY = /^[\x21-\x7e]{32,512}$/;
const FIX = 'create one with: openssl rand -hex 32';

/** A new key. Its prefix says whose it is, so that a key found in a file or a log can be recognised. */
export const newKey = (kind: 'caller' | 'owner' | 'member'): string =>
  `instar_${kind}_${randomBytes(32).toString('base64url')}`;

export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Names a key in the record without revealing it. */
export const keyId = (kind: 'caller' | 'owner' | 'member', hash: string): string =>
  `${kind === 'caller' ? 'k' : kind}_${hash.slice(0, 10)}`;

/** The first caller key: `INSTAR_KEY`, else the home's key file, created on first use. Throws `ConfigError`. */
export function readOrCreateKey(home: Home, env: NodeJS.ProcessEnv): InstarKey {
  const existing = readKey(home, env);
  if (existing) return existing;
  const key = newKey('caller');
  if (createFileSync(home.keyFile, `${key}\n`)) return { key, source: 'created', tightened: false };
  // Another process created the file meanwhile: both must use the same key.
  const theirs = readKey(home, env);
  if (theirs) return theirs;
  throw new ConfigError([
    { path: home.keyFile, what: 'was deleted while it was being read', fix: 'try again' },
  ]);
}

/** The key; undefined when there is none yet. */
export function readKey(home: Home, env: NodeJS.ProcessEnv): InstarKey | undefined {
  const given = env.INSTAR_KEY?.trim();
  if (given) return { key: checkKey(given, 'INSTAR_KEY'), source: 'environment', tightened: false };
  const found = readPrivateFile(home.keyFile, 'INSTAR_KEY');
  return found && { key: checkKey(found.text, home.keyFile), source: 'file', tightened: found.tightened };
}

/**
 * The text of a file that only its owner may read; a file that others can read is set to mode 600. Undefined when it does
 * not exist. Throws `ConfigError` when it cannot be read; `variable` can be set instead.
 */
export function readPrivateFile(
  file: string,
  variable: string,
): { readonly text: string; readonly tightened: boolean } | undefined {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const tightened = process.platform !== 'win32' && (fstatSync(descriptor).mode & 0o077) !== 0;
      if (tightened) fchmodSync(descriptor, 0o600);
      return { text: readFileSync(descriptor, 'utf8').trim(), tightened };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const what = `cannot be read or set to mode 600 (${code ?? 'unknown error'})`;
    throw new ConfigError([{ path: file, what, fix: `chmod 600 ${file}, or set ${variable}` }]);
  }
}

/** A key that can be sent in a header. Throws `ConfigError`. */
export function checkKey(key: string, path: string): string {
  if (KEY.test(key)) return key;
  const what =
    key.length < 32
      ? 'is shorter than 32 characters'
      : 'must be 32 to 512 printable ASCII characters without spaces';
  throw new ConfigError([{ path, what, fix: FIX }]);
}
