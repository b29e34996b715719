import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';
import type { Clock } from '../core/clock.ts';
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

/** The key that callers send: `INSTAR_KEY`, else the home's key file, created on first use. Throws `ConfigError`. */
export function readOrCreateKey(home: Home, env: NodeJS.ProcessEnv): InstarKey {
  const existing = readKey(home, env);
  if (existing) return existing;
  const key = randomBytes(32).toString('base64url');
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
  if (given) return { key: checked(given, 'INSTAR_KEY'), source: 'environment', tightened: false };
  try {
    const descriptor = openSync(home.keyFile, 'r');
    try {
      const tightened = process.platform !== 'win32' && (fstatSync(descriptor).mode & 0o077) !== 0;
      if (tightened) fchmodSync(descriptor, 0o600);
      const key = checked(readFileSync(descriptor, 'utf8').trim(), home.keyFile);
      return { key, source: 'file', tightened };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError([
      {
        path: home.keyFile,
        what: `cannot be read or set to mode 600 (${code ?? 'unknown error'})`,
        fix: `chmod 600 ${home.keyFile}, or set INSTAR_KEY`,
      },
    ]);
  }
}

function checked(key: string, path: string): string {
  if (KEY.test(key)) return key;
  const what =
    key.length < 32
      ? 'is shorter than 32 characters'
      : 'must be 32 to 512 printable ASCII characters without spaces';
  throw new ConfigError([{ path, what, fix: FIX }]);
}

const REREAD_MS = 1000;

/** The current key. A changed key file takes effect within a second, without a file read per request. */
export function createCurrentKey(home: Home, env: NodeJS.ProcessEnv, clock: Clock): () => string {
  let { key } = readOrCreateKey(home, env);
  let readAt = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    if (now - readAt < REREAD_MS) return key;
    readAt = now;
    try {
      key = readKey(home, env)?.key ?? key;
    } catch {
      // Unreadable for a moment, such as half-written: keep the previous key.
    }
    return key;
  };
}
