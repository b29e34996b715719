import { createHash } from 'node:crypto';
import { createLruMap } from '../base/lru-map.ts';
import type { Caller } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import { type CallerKey, fileStamp, firstKey, readCallerKeys, tagOf } from './caller-keys.ts';
import type { Home } from './home.ts';
import { hashKey, keyId, readKey, readOrCreateKey } from './key.ts';
import { ownerHash, readOrCreateOwnerKey, readOwnerKey } from './owner-key.ts';

/** All valid keys of a home. A created, revoked or replaced key takes effect at once, without a restart. */
interface ValidKeys {
  /** Undefined for a key that is not valid here. */
  find(presented: string): Caller | undefined;
  /** A client with a credential of its own for this provider: the same caller when its token is renewed. */
  ofCredential(provider: string, client: string | undefined): Caller;
  /** The holder of the owner key; undefined while no owner key is valid. */
  owner(): Caller | undefined;
  /** The keys whose text is known here: the redactor removes them from the record. */
  texts(): readonly string[];
}

/** A look at the files' times costs microseconds; a flood of requests, also with unknown keys, makes no more of them than this. */
const LOOK_MS = 1;
/** A file that cannot be read is tried again after this time, or when it changes. */
const RETRY_MS = 1000;
/** Callers send the same few keys with every request, so their hashes are cached. */
const MOST_HASHES = 64;
const LONGEST_CACHED_KEY = 512;

interface KnownKeys {
  readonly byHash: ReadonlyMap<string, Caller>;
  readonly texts: readonly string[];
  readonly owner: Caller | undefined;
}

/** Creates the first caller key and the owner key of a new home. Throws `ConfigError` when a key file is invalid. */
export function openValidKeys(home: Home, env: NodeJS.ProcessEnv, clock: Clock): ValidKeys {
  readOrCreateKey(home, env);
  readOrCreateOwnerKey(home, env);
  let known = load(home, env);
  let stamp = stampOf(home);
  let lookedAt = clock.monotonic();
  let failed: { readonly stamp: string; readonly at: number } | undefined;
  const current = (): KnownKeys => {
    const now = clock.monotonic();
    if (now - lookedAt < LOOK_MS) return known;
    lookedAt = now;
    const stampNow = stampOf(home);
    if (stampNow === stamp || (stampNow === failed?.stamp && now - failed.at < RETRY_MS)) return known;
    try {
      known = load(home, env);
      stamp = stampNow;
      failed = undefined;
    } catch {
      // Unreadable for a moment, such as half-written by an editor: keep the previous keys.
      failed = { stamp: stampNow, at: now };
    }
    return known;
  };
  const hashes = createLruMap<string, string>(MOST_HASHES);
  const hashOf = (presented: string): string => {
    if (presented.length > LONGEST_CACHED_KEY) return hashKey(presented);
    let hash = hashes.get(presented);
    if (hash === undefined) {
      hash = hashKey(presented);
      hashes.set(presented, hash);
    }
    return hash;
  };
  return {
    find: (presented) => current().byHash.get(hashOf(presented)),
    ofCredential: credentialCaller,
    owner: () => current().owner,
    texts: () => current().texts,
  };
}

const stampOf = ({ keyFile, ownerKeyFile, keysFile }: Home): string =>
  [keyFile, ownerKeyFile, keysFile].map(fileStamp).join('|');

function load(home: Home, env: NodeJS.ProcessEnv): KnownKeys {
  const byHash = new Map<string, Caller>();
  const texts: string[] = [];
  for (const entry of readCallerKeys(home))
    if (entry.revokedAt === undefined) byHash.set(entry.hash, callerOfKey(entry));
  const first = firstKey(home, env);
  if (first !== undefined)
    byHash.set(first.hash, { kind: 'caller', id: first.id, mayRate: false, ...limitedBy(first, '') });
  texts.push(...[readKey(home, env)?.key ?? []].flat());
  const owner = ownerHash(home, env);
  // One key cannot be both: a caller key that was copied into the owner's file stays a caller key.
  const caller: Caller | undefined =
    owner === undefined || byHash.has(owner)
      ? undefined
      : { kind: 'owner', id: keyId('owner', owner), mayRate: true };
  if (owner !== undefined && caller !== undefined) byHash.set(owner, caller);
  const ownerText = readOwnerKey(home, env)?.key;
  if (ownerText !== undefined) texts.push(ownerText);
  return { byHash, texts, owner: caller };
}

/** What the holder of a key is. */
export function callerOfKey(entry: CallerKey): Caller {
  const { id, mayRate } = entry;
  const tag = tagOf(entry);
  return {
    kind: 'caller',
    id,
    mayRate,
    tag,
    ...(entry.isOwn ? {} : { member: tag }),
    ...limitedBy(entry, tag),
  };
}

const limitedBy = ({ id, name, limits = [], fallback }: CallerKey, tag: string): Pick<Caller, 'limited'> =>
  limits.length === 0 ? {} : { limited: { id, name, tag, limits, ...compact({ fallback }) } };

/** A client with a credential of its own: known by provider and client, since its token changes. */
export function credentialCaller(provider: string, client: string | undefined): Caller {
  const hash = createHash('sha256')
    .update(`${provider}\n${client ?? ''}`)
    .digest('hex');
  const tag = `c_${hash.slice(0, 16)}`;
  return { kind: 'credential', id: tag, mayRate: false, member: tag, tag };
}
