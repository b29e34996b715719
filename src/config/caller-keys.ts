import { readFileSync, statSync } from 'node:fs';
import { replaceFileSync } from '../base/atomic-file.ts';
import { keyTag } from '../core/caller.ts';
import { isClientName } from '../core/client-name.ts';
import { compact, isObject, type JsonObject, parseJson } from '../core/json.ts';
import type { KeyLimit } from '../core/key-limit.ts';
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
  /** A client of the home's own person: what it learns is that person's. Else the key stands for itself. */
  readonly isOwn: boolean;
  /** The first key of this name: a renewed key goes on with its sessions and lessons. */
  readonly line?: string;
  /** The agents it may speak for, by the owner's word; with `*` for all. Absent: those that it used in its first day. */
  readonly agents?: readonly string[];
  readonly used?: UsedAgents;
  /** What it may use. */
  readonly limits?: readonly KeyLimit[];
  /** `provider/model`: answers once the tokens or the money of a day are used up. */
  readonly fallback?: string;
}

/** The agents that a key without a binding has named since its first request. */
export interface UsedAgents {
  readonly since: string;
  readonly agents: readonly string[];
}

interface KeysFile {
  /** The record's keys and lessons have owners: set for a new home, and once for one of an earlier version. */
  readonly isAssigned?: boolean;
  readonly owner?: string;
  readonly callers: readonly CallerKey[];
  readonly first?: FirstKey;
}

/** What is known of the key in the home's key file, by its hash. */
interface FirstKey extends Pick<CallerKey, 'agents' | 'used' | 'limits' | 'fallback'> {
  readonly hash: string;
}

/** How the ids of a key's sessions begin. */
export const tagOf = ({ id, line, isOwn }: Pick<CallerKey, 'id' | 'line' | 'isOwn'>): string =>
  keyTag(line ?? id, isOwn);

const HASH = /^[0-9a-f]{64}$/;

const isCallerKey = (key: JsonObject): boolean =>
  [key.id, key.name, key.hash, key.createdAt, key.revokedAt ?? '', key.line ?? '', key.fallback ?? ''].every(
    (text) => typeof text === 'string',
  ) &&
  HASH.test(String(key.hash)) &&
  typeof key.mayRate === 'boolean' &&
  (key.isOwn === undefined || typeof key.isOwn === 'boolean') &&
  isNames(key.agents ?? []) &&
  isLimits(key.limits ?? []) &&
  isUsed(key.used);

const isNames = (names: unknown): boolean =>
  Array.isArray(names) && names.every((name) => typeof name === 'string');

const isLimits = (limits: unknown): boolean =>
  Array.isArray(limits) &&
  limits.every(
    (one) =>
      isObject(one) &&
      ['requests', 'tokens', 'usd'].includes(String(one.of)) &&
      ['minute', 'day'].includes(String(one.per)) &&
      typeof one.most === 'number',
  );

const isUsed = (used: unknown): boolean =>
  used === undefined || (isObject(used) && typeof used.since === 'string' && isNames(used.agents));

/** Read by most commands, so without a schema library, which takes longer to load than they run. */
function isKeysFile(file: unknown): file is KeysFile {
  if (!isObject(file) || !Array.isArray(file.callers)) return false;
  const { owner, first } = file;
  const isOwner = owner === undefined || (typeof owner === 'string' && HASH.test(owner));
  const isFirst =
    first === undefined ||
    (isObject(first) &&
      typeof first.hash === 'string' &&
      typeof (first.fallback ?? '') === 'string' &&
      isNames(first.agents ?? []) &&
      isLimits(first.limits ?? []) &&
      isUsed(first.used));
  return isOwner && isFirst && file.callers.every((caller) => isObject(caller) && isCallerKey(caller));
}

/** The caller keys of a home, without the one in its key file. Throws `ConfigError` for an invalid file. */
export const readCallerKeys = (home: Home): readonly CallerKey[] => readFile(home).callers;

export const isRecordAssigned = (home: Home): boolean => readFile(home).isAssigned === true;

export function markRecordAssigned(home: Home): void {
  write(home, { ...readFile(home), isAssigned: true });
}

export const readOwnerHash = (home: Home): string | undefined => readFile(home).owner;

export function writeOwnerHash(home: Home, owner: string): void {
  write(home, { ...readFile(home), owner });
}

const LONGEST_NAME = 64;
export const isKeyName = (name: string): boolean => /^[\w.@ -]+$/.test(name) && name.length <= LONGEST_NAME;

interface NewKey {
  readonly name: string;
  readonly mayRate: boolean;
  readonly at: number;
  readonly isOwn?: boolean;
  readonly agents?: readonly string[];
  readonly limits?: readonly KeyLimit[];
  readonly fallback?: string;
}

/**
 * Creates a key. It is returned once and kept nowhere: whoever loses it gets a new one, which goes on with the sessions, the lessons
 * the agents and the limits of the last key of its name.
 */
export function createCallerKey(
  home: Home,
  { name, mayRate, at, isOwn = false, agents, limits, fallback }: NewKey,
): { readonly key: string; readonly entry: CallerKey } {
  const key = newKey('caller');
  const hash = hashKey(key);
  const file = readFile(home);
  const before = file.callers.findLast((one) => one.name === name);
  const entry: CallerKey = compact({
    id: keyId('caller', hash),
    name,
    hash,
    mayRate,
    createdAt: new Date(at).toISOString(),
    isOwn: isOwn || before?.isOwn === true,
    line: before === undefined ? undefined : (before.line ?? before.id),
    agents: agents ?? before?.agents,
    used: agents === undefined ? before?.used : undefined,
    limits: limits ?? before?.limits,
    fallback: limits === undefined ? before?.fallback : fallback,
  });
  write(home, { ...file, callers: [...file.callers, entry] });
  return { key, entry };
}

/** What the owner decides about a key that is valid; undefined when none has this id or name. */
export function changeCallerKey(
  home: Home,
  idOrName: string,
  change: Partial<Pick<CallerKey, 'isOwn' | 'agents' | 'limits' | 'fallback'>>,
): CallerKey | undefined {
  const file = readFile(home);
  const found = file.callers.findLast(
    ({ id, name, revokedAt }) => revokedAt === undefined && (id === idOrName || name === idOrName),
  );
  if (found === undefined) return undefined;
  const { fallback: _, ...unlimited } = found;
  const changed = { ...(change.limits === undefined ? found : unlimited), ...change };
  write(home, { ...file, callers: file.callers.map((one) => (one === found ? changed : one)) });
  return changed;
}

/** Writes down the agents that keys have used, by the keys' hashes. Keys that are gone are left out. */
export function writeUsedAgents(home: Home, used: ReadonlyMap<string, UsedAgents>): void {
  const file = readFile(home);
  const callers = file.callers.map((one) => {
    const agents = used.get(one.hash);
    return agents === undefined ? one : { ...one, used: agents };
  });
  const [firstHash] = [...used.keys()].filter((hash) => file.callers.every((one) => one.hash !== hash));
  const agents = used.get(firstHash ?? '');
  const isSame = file.first?.hash === firstHash;
  const first =
    firstHash === undefined || agents === undefined
      ? file.first
      : { ...(isSame ? file.first : {}), hash: firstHash, used: agents };
  write(home, { ...file, callers, ...(first === undefined ? {} : { first }) });
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
  return compact({
    id: keyId('caller', hash),
    name,
    hash,
    mayRate: false,
    createdAt: '',
    isOwn: true,
    ...knownOfFirst(readFile(home), hash),
  });
}

/** What is known of the first key with this hash. */
function knownOfFirst({ first }: KeysFile, hash: string): Omit<FirstKey, 'hash'> {
  if (first?.hash !== hash) return {};
  const { hash: _, ...known } = first;
  return known;
}

/** What the owner decides about the first key. */
export function changeFirstKey(
  home: Home,
  hash: string,
  change: Pick<FirstKey, 'agents' | 'limits' | 'fallback'>,
): void {
  const file = readFile(home);
  const { fallback, ...known } = knownOfFirst(file, hash);
  const kept = change.limits === undefined ? compact({ fallback }) : {};
  write(home, { ...file, first: { hash, ...known, ...kept, ...change } });
}

/** Revokes the first key and writes a new one into the key file. The key of the environment cannot be replaced here. */
export function replaceFirstKey(home: Home, env: NodeJS.ProcessEnv, at: number): CallerKey | undefined {
  const first = firstKey(home, env);
  if (first === undefined || env.INSTAR_KEY?.trim()) return undefined;
  const revoked = { ...first, revokedAt: new Date(at).toISOString() };
  const file = readFile(home);
  const key = newKey('caller');
  const { limits, fallback } = first;
  // A new key is no way past the limits of the old one.
  const next =
    limits === undefined ? {} : { first: { hash: hashKey(key), limits, ...compact({ fallback }) } };
  write(home, { ...file, callers: [...file.callers, revoked], ...next });
  replaceFileSync(home.keyFile, `${key}\n`);
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
  if (isKeysFile(parsed)) return { ...parsed, callers: parsed.callers.map(withOwner) };
  const fix = 'restore it from a backup of the home, or delete it and connect the clients again';
  throw new ConfigError([{ path: home.keysFile, what: 'is not a list of keys', fix }]);
}

/** Keys of earlier versions do not say whose they are: a client that `connect` knows by its name is the person's own. */
const withOwner = (key: CallerKey): CallerKey =>
  key.isOwn === undefined ? { ...key, isOwn: isClientName(key.name) } : key;

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
