import { readFileSync, statSync } from 'node:fs';
import { replaceFileSync } from '../base/atomic-file.ts';
import { isObject, type JsonObject, parseJson } from '../core/json.ts';
import { ConfigError } from './config-error.ts';
import type { Home } from './home.ts';
import { hashKey, keyId, newKey, readKey } from './key.ts';

/** A key of one client. Only its hash is kept. */
export interface CallerKey {
  readonly id: string;
  /** The client it was made for. */
  readonly name: string;
  readonly hash: string;
  /** The application passes ratings of its users on: its feedback counts as a person's. */
  readonly mayRate: boolean;
  readonly createdAt: string;
  readonly revokedAt?: string;
}

interface KeysFile {
  readonly owner?: string;
  readonly callers: readonly CallerKey[];
}

const HASH = /^[0-9a-f]{64}$/;

const isCallerKey = ({ id, name, hash, mayRate, createdAt, revokedAt }: JsonObject): boolean =>
  [id, name, hash, createdAt, revokedAt ?? ''].every((text) => typeof text === 'string') &&
  HASH.test(String(hash)) &&
  typeof mayRate === 'boolean';

/** Read by most commands, so without a schema library, which takes longer to load than they run. */
function isKeysFile(file: unknown): file is KeysFile {
  if (!isObject(file) || !Array.isArray(file.callers)) return false;
  const { owner } = file;
  const isOwner = owner === undefined || (typeof owner === 'string' && HASH.test(owner));
  return isOwner && file.callers.every((caller) => isObject(caller) && isCallerKey(caller));
}

/** The caller keys of a home, without the one in its key file. Throws `ConfigError` for an invalid file. */
export const readCallerKeys = (home: Home): readonly CallerKey[] => readFile(home).callers;

export const readOwnerHash = (home: Home): string | undefined => readFile(home).owner;

export function writeOwnerHash(home: Home, owner: string): void {
  write(home, { ...readFile(home), owner });
}

const LONGEST_NAME = 64;
export const isKeyName = (name: string): boolean => /^[\w.@ -]+$/.test(name) && name.length <= LONGEST_NAME;

/** Creates a key. It is returned once and kept nowhere: whoever loses it gets a new one. */
export function createCallerKey(
  home: Home,
  { name, mayRate, at }: { readonly name: string; readonly mayRate: boolean; readonly at: number },
): { readonly key: string; readonly entry: CallerKey } {
  const key = newKey('caller');
  const hash = hashKey(key);
  const createdAt = new Date(at).toISOString();
  const entry = { id: keyId('caller', hash), name, hash, mayRate, createdAt };
  const file = readFile(home);
  write(home, { ...file, callers: [...file.callers, entry] });
  return { key, entry };
}

/** Revokes every valid key with this id or name; the revoked ones. The entries stay, so that the record can be read. */
export function revokeCallerKeys(home: Home, idOrName: string, at: number): readonly CallerKey[] {
  const file = readFile(home);
  const isMeant = ({ id, name, revokedAt }: CallerKey): boolean =>
    revokedAt === undefined && (id === idOrName || name === idOrName);
  const revoked = file.callers.filter(isMeant);
  const revokedAt = new Date(at).toISOString();
  const callers = file.callers.map((one) => (isMeant(one) ? { ...one, revokedAt } : one));
  if (revoked.length > 0) write(home, { ...file, callers });
  return revoked;
}

/**
 * The first key, of the home's key file, as an entry. Undefined when there is none or when it is revoked. Clients of earlier
 * versions use it.
 */
export function firstKey(home: Home, env: NodeJS.ProcessEnv): CallerKey | undefined {
  const found = readKey(home, env);
  if (found === undefined) return undefined;
  const hash = hashKey(found.key);
  const name = found.source === 'environment' ? 'INSTAR_KEY' : 'key';
  if (readCallerKeys(home).some((one) => one.hash === hash)) return undefined;
  return { id: keyId('caller', hash), name, hash, mayRate: false, createdAt: '' };
}

/** Revokes the first key and writes a new one into the key file. The key of the environment cannot be replaced here. */
export function replaceFirstKey(home: Home, env: NodeJS.ProcessEnv, at: number): CallerKey | undefined {
  const first = firstKey(home, env);
  if (first === undefined || env.INSTAR_KEY?.trim()) return undefined;
  const revoked = { ...first, revokedAt: new Date(at).toISOString() };
  const file = readFile(home);
  write(home, { ...file, callers: [...file.callers, revoked] });
  replaceFileSync(home.keyFile, `${newKey('caller')}\n`);
  return revoked;
}

function readFile(home: Home): KeysFile {
  let text: string;
  try {
    text = readFileSync(home.keysFile, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { callers: [] };
    throw new ConfigError([{ path: home.keysFile, what: `cannot be read (${code ?? 'unknown error'})` }]);
  }
  const parsed: unknown = parseJson(text);
  if (isKeysFile(parsed)) return parsed;
  const fix = 'restore it from a backup of the home, or delete it and connect the clients again';
  throw new ConfigError([{ path: home.keysFile, what: 'is not a list of keys', fix }]);
}

const write = (home: Home, file: KeysFile): void =>
  void replaceFileSync(home.keysFile, `${JSON.stringify(file, null, 2)}\n`);

/** Changes whenever a file is written, replaced or deleted. */
export function fileStamp(file: string): string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  } catch {
    return '';
  }
}
