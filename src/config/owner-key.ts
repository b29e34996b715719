import { spawnSync } from 'node:child_process';
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { createFileSync, replaceFileSync } from '../base/atomic-file.ts';
import { asObject, parseJson } from '../core/json.ts';
import { readOwnerHash, writeOwnerHash } from './caller-keys.ts';
import { ConfigError } from './config-error.ts';
import type { Home } from './home.ts';
import { checkKey, hashKey, newKey, readPrivateFile } from './key.ts';

export type KeyProtection = 'none' | 'passphrase' | 'keyring';

/** The owner key as its file holds it. */
export interface StoredOwnerKey {
  readonly protection: KeyProtection;
  /** Undefined while it is protected: `unlock` reveals it. */
  readonly key: string | undefined;
  /** Throws `ConfigError` for a wrong passphrase or a keyring that does not answer. */
  readonly unlock: (passphrase: string) => string;
}

/** Costs about a third of a second and 128 MB per guess. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const;

interface SealedKey {
  readonly protection: 'passphrase';
  readonly salt: string;
  readonly nonce: string;
  readonly sealed: string;
}

/** Undefined for anything else than a protected key. */
function readProtected(text: string): SealedKey | { readonly protection: 'keyring' } | undefined {
  const { protection, salt, nonce, sealed } = asObject(parseJson(text));
  if (protection === 'keyring') return { protection };
  if (protection !== 'passphrase') return undefined;
  if (typeof salt !== 'string' || typeof nonce !== 'string' || typeof sealed !== 'string') return undefined;
  return { protection, salt, nonce, sealed };
}

/**
 * The owner key: `INSTAR_OWNER_KEY`, else the home's owner-key file. Undefined when there is none yet. Throws `ConfigError`
 * for an invalid file.
 */
export function readOwnerKey(home: Home, env: NodeJS.ProcessEnv): StoredOwnerKey | undefined {
  const given = env.INSTAR_OWNER_KEY?.trim();
  if (given) return plain(checkKey(given, 'INSTAR_OWNER_KEY'));
  const found = readPrivateFile(home.ownerKeyFile, 'INSTAR_OWNER_KEY');
  if (found === undefined) return undefined;
  if (!found.text.startsWith('{')) return plain(checkKey(found.text, home.ownerKeyFile));
  const data = readProtected(found.text);
  if (data === undefined) {
    const what = 'is neither a key nor a protected key';
    throw new ConfigError([{ path: home.ownerKeyFile, what, fix: REPLACE }]);
  }
  const reveal = (passphrase: string): string =>
    data.protection === 'passphrase' ? openSealed(data, passphrase, home) : readKeyring(home);
  return { protection: data.protection, key: undefined, unlock: reveal };
}

const REPLACE = 'delete the file and run "instar up": a new owner key is created (caller keys stay valid)';

const plain = (key: string): StoredOwnerKey => ({ protection: 'none', key, unlock: () => key });

/** The owner key, created on first use. */
export function readOrCreateOwnerKey(home: Home, env: NodeJS.ProcessEnv): StoredOwnerKey {
  const existing = readOwnerKey(home, env);
  if (existing !== undefined) return existing;
  const key = newKey('owner');
  if (!createFileSync(home.ownerKeyFile, `${key}\n`)) return readOrCreateOwnerKey(home, env);
  writeOwnerHash(home, hashKey(key));
  return plain(key);
}

/** The hash of the valid owner key; undefined before the first start. Protected keys are known by their recorded hash. */
export function ownerHash(home: Home, env: NodeJS.ProcessEnv): string | undefined {
  const stored = readOwnerKey(home, env);
  if (stored === undefined) return undefined;
  return stored.key === undefined ? readOwnerHash(home) : hashKey(stored.key);
}

/** Writes the owner key in another form. The key itself stays the same. */
export function protectOwnerKey(home: Home, key: string, protection: KeyProtection, passphrase = ''): void {
  writeOwnerHash(home, hashKey(key));
  if (protection === 'keyring') writeKeyring(home, key);
  const text =
    protection === 'none'
      ? key
      : JSON.stringify(protection === 'keyring' ? { protection } : seal(key, passphrase));
  replaceFileSync(home.ownerKeyFile, `${text}\n`);
}

/** Replaces the owner key by a new one in the same form; the old one is invalid at once. */
export function replaceOwnerKey(home: Home, protection: KeyProtection, passphrase = ''): string {
  const key = newKey('owner');
  protectOwnerKey(home, key, protection, passphrase);
  return key;
}

function seal(key: string, passphrase: string): SealedKey {
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, SCRYPT), nonce);
  const sealed = Buffer.concat([cipher.update(key, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  return { protection: 'passphrase', salt: text(salt), nonce: text(nonce), sealed: text(sealed) };
}

const TAG_BYTES = 16;

function openSealed({ salt, nonce, sealed }: SealedKey, passphrase: string, home: Home): string {
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
  const all = bytes(sealed);
  try {
    const secret = scryptSync(passphrase, bytes(salt), 32, SCRYPT);
    const decipher = createDecipheriv('aes-256-gcm', secret, bytes(nonce));
    decipher.setAuthTag(all.subarray(-TAG_BYTES));
    const key = Buffer.concat([decipher.update(all.subarray(0, -TAG_BYTES)), decipher.final()]);
    return checkKey(key.toString('utf8'), home.ownerKeyFile);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const what = 'does not open with this passphrase';
    throw new ConfigError([{ path: home.ownerKeyFile, what, fix: 'try again' }]);
  }
}

interface KeyringProgram {
  readonly program: string;
  /** The key is written to standard input, or, where the program cannot read it there, into its arguments. */
  readonly store: (
    home: string,
    key: string,
  ) => { readonly args: readonly string[]; readonly input?: string };
  readonly read: (home: string) => readonly string[];
}

/** Freedesktop's secret service, and the macOS keychain. Both programs belong to the system. */
const KEYRINGS: Readonly<Partial<Record<NodeJS.Platform, KeyringProgram>>> = {
  linux: {
    program: 'secret-tool',
    store: (home, key) => ({
      args: ['store', '--label=Instar owner key', 'service', 'instar', 'home', home],
      input: key,
    }),
    read: (home) => ['lookup', 'service', 'instar', 'home', home],
  },
  darwin: {
    program: 'security',
    // `-i` reads the command from standard input, so that the key is in no process list.
    store: (home, key) => ({
      args: ['-i'],
      input: `add-generic-password -U -s instar -a ${JSON.stringify(home)} -w ${key}\n`,
    }),
    read: (home) => ['find-generic-password', '-s', 'instar', '-a', home, '-w'],
  },
};

function runKeyring(args: readonly string[], input = ''): string {
  const program = KEYRINGS[process.platform]?.program;
  const fix = 'protect the owner key with a passphrase instead: instar team keys protect --passphrase';
  if (program === undefined)
    throw new ConfigError([{ path: 'keyring', what: `is not supported on ${process.platform}`, fix }]);
  const done = spawnSync(program, [...args], { input, encoding: 'utf8', timeout: 60_000 });
  if (done.error === undefined && done.status === 0) return done.stdout.trim();
  const reason = done.error === undefined ? done.stderr.trim().slice(0, 200) : done.error.message;
  throw new ConfigError([{ path: 'keyring', what: `${program} failed: ${reason || 'no such entry'}`, fix }]);
}

function writeKeyring(home: Home, key: string): void {
  const { args, input } = KEYRINGS[process.platform]?.store(home.dir, key) ?? { args: [] };
  runKeyring(args, input);
  if (readKeyring(home) !== key)
    throw new ConfigError([{ path: 'keyring', what: 'did not keep the key', fix: 'nothing was changed' }]);
}

const readKeyring = (home: Home): string =>
  checkKey(runKeyring(KEYRINGS[process.platform]?.read(home.dir) ?? []), 'the keyring');
