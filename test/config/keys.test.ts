import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  createCallerKey,
  firstKey,
  readCallerKeys,
  replaceFirstKey,
  revokeCallerKeys,
} from '../../src/config/caller-keys.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { openHome } from '../../src/config/home.ts';
import { hashKey, readOrCreateKey } from '../../src/config/key.ts';
import {
  protectOwnerKey,
  readOrCreateOwnerKey,
  readOwnerKey,
  replaceOwnerKey,
} from '../../src/config/owner-key.ts';
import { openValidKeys } from '../../src/config/valid-keys.ts';
import { createManualClock } from '../../src/core/clock.ts';
import { scratch } from '../record/store/scratch.ts';

const open = () => {
  const home = openHome(scratch());
  const clock = createManualClock(1_000_000);
  return { home, clock, keys: openValidKeys(home, {}, clock) };
};

describe('the keys of a home', () => {
  it('are two kinds: the key of clients is no owner, and the owner key is in a file of its own (mode 600)', () => {
    const { home, keys } = open();
    const caller = readOrCreateKey(home, {}).key;
    const owner = readOrCreateOwnerKey(home, {}).key ?? '';
    expect(keys.find(caller)).toMatchObject({ kind: 'caller', mayRate: false });
    expect(keys.find(owner)).toMatchObject({ kind: 'owner', mayRate: true });
    expect(statSync(home.ownerKeyFile).mode & 0o777).toBe(0o600);
    expect(keys.find('')).toBeUndefined();
    expect(keys.find(`${owner}x`)).toBeUndefined();
  });

  it('of an earlier version stay valid for clients, and become no owner', () => {
    const home = openHome(scratch());
    const old = 'k'.repeat(43);
    writeFileSync(home.keyFile, `${old}\n`, { mode: 0o600 });
    const keys = openValidKeys(home, {}, createManualClock());
    expect(keys.find(old)?.kind).toBe('caller');
    expect(readOwnerKey(home, {})?.key).not.toBe(old);
  });

  it('give no caller more rights by copying its key into the owner’s file', () => {
    const { home, clock, keys } = open();
    const { key } = readOrCreateKey(home, {});
    writeFileSync(home.ownerKeyFile, `${key}\n`, { mode: 0o600 });
    clock.advance(2000);
    expect(keys.find(key)?.kind).toBe('caller');
  });

  it('are created and revoked without a restart, and only their hashes are kept', () => {
    const { home, clock, keys } = open();
    const { key, entry } = createCallerKey(home, { name: 'app', mayRate: true, at: 0 });
    clock.advance(1001);
    expect(keys.find(key)).toEqual({
      kind: 'caller',
      id: entry.id,
      mayRate: true,
      tag: entry.id,
      member: entry.id,
    });
    expect(readFileSync(home.keysFile, 'utf8')).not.toContain(key);
    expect(statSync(home.keysFile).mode & 0o777).toBe(0o600);
    expect(revokeCallerKeys(home, 'app', 5)).toHaveLength(1);
    clock.advance(1001);
    expect(keys.find(key)).toBeUndefined();
    expect(readCallerKeys(home)[0]?.revokedAt).toBe('1970-01-01T00:00:00.005Z');
  });

  it('replace the first one when it is revoked, so that shells get a valid one', () => {
    const { home, clock, keys } = open();
    const old = readOrCreateKey(home, {}).key;
    replaceFirstKey(home, {}, 0);
    clock.advance(1001);
    expect(keys.find(old)).toBeUndefined();
    expect(keys.find(readOrCreateKey(home, {}).key)?.kind).toBe('caller');
    expect(firstKey(home, {})).toBeDefined();
  });

  it('stay as they were while a file is damaged (not: everyone is refused)', () => {
    const { home, clock, keys } = open();
    const { key } = createCallerKey(home, { name: 'app', mayRate: false, at: 0 });
    clock.advance(1001);
    expect(keys.find(key)).toBeDefined();
    writeFileSync(home.keysFile, '{ "callers": [');
    clock.advance(1001);
    expect(keys.find(key)).toBeDefined();
    expect(() => readCallerKeys(home)).toThrow(ConfigError);
  });

  it('know a client with its own credential by provider and client, so that a renewed token is the same caller', () => {
    const { keys } = open();
    const claude = keys.ofCredential('anthropic', 'claude-code');
    expect(keys.ofCredential('anthropic', 'claude-code')).toEqual(claude);
    expect(keys.ofCredential('openrouter', 'claude-code').id).not.toBe(claude.id);
    expect(keys.ofCredential('anthropic', 'codex').id).not.toBe(claude.id);
    expect(claude.member).toBe(claude.id);
  });

  it('stand for themselves unless they are a client of the home’s own person, and a renewed key stays the same caller', () => {
    const { home, clock, keys } = open();
    const make = (name: string, isOwn: boolean) =>
      createCallerKey(home, { name, mayRate: false, at: 0, isOwn }).key;
    const [app, client] = [make('app', false), make('codex', true)];
    clock.advance(1001);
    const before = keys.find(app);
    expect(before?.member).toMatch(/^k_/);
    expect(keys.find(client)).not.toHaveProperty('member');
    expect(keys.find(client)?.tag).toMatch(/^o_/);
    revokeCallerKeys(home, 'app', 1);
    const renewed = make('app', false);
    clock.advance(1001);
    expect(keys.find(renewed)).toMatchObject({ member: before?.member, tag: before?.tag });
    expect(keys.find(renewed)?.id).not.toBe(before?.id);
  });
});

describe('the owner key', () => {
  it('opens with its passphrase alone, and the daemon still knows it', () => {
    const { home, clock, keys } = open();
    const key = readOrCreateOwnerKey(home, {}).key ?? '';
    protectOwnerKey(home, key, 'passphrase', 'correct horse');
    expect(readFileSync(home.ownerKeyFile, 'utf8')).not.toContain(key);
    const stored = readOwnerKey(home, {});
    expect(stored).toMatchObject({ protection: 'passphrase', key: undefined });
    expect(() => stored?.unlock('wrong horse')).toThrow('does not open with this passphrase');
    expect(stored?.unlock('correct horse')).toBe(key);
    clock.advance(1001);
    expect(keys.find(key)?.kind).toBe('owner');
  });

  it('can be replaced; the old one is invalid at once (not after a second)', () => {
    const { home, clock, keys } = open();
    const old = readOrCreateOwnerKey(home, {}).key ?? '';
    const key = replaceOwnerKey(home, 'none');
    clock.advance(1);
    expect(keys.find(old)).toBeUndefined();
    expect(keys.find(key)?.kind).toBe('owner');
    expect(readFileSync(home.keysFile, 'utf8')).toContain(hashKey(key));
  });

  it('is refused when its file holds something else, with the way out', () => {
    const { home } = open();
    writeFileSync(home.ownerKeyFile, '{"protection":"none"}');
    expect(() => readOwnerKey(home, {})).toThrow('delete the file');
  });
});
