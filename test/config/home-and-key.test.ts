import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { homeDir, openHome } from '../../src/config/home.ts';
import { readKey, readOrCreateKey } from '../../src/config/key.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'instar-home-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe('openHome', () => {
  it('creates the home and its parents with mode 700', () => {
    const home = openHome(join(dir, 'a/b'));
    expect(modeOf(home.dir)).toBe(0o700);
    expect(home.configFile).toBe(join(dir, 'a/b/config.json'));
  });

  it('refuses a home that is a file, or below one', () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(() => openHome(file)).toThrow(/is a file/);
    expect(() => openHome(join(file, 'x'))).toThrow(ConfigError);
  });

  it.each([0o770, 0o702, 0o777])('refuses a home of mode %o and says chmod', (mode) => {
    chmodSync(dir, mode);
    expect(() => openHome(dir)).toThrow(/is writable by others \(chmod 700/);
  });

  it('prefers the flag to the variable to the default', () => {
    expect(homeDir('/x', { INSTAR_HOME: '/y' })).toBe('/x');
    expect(homeDir(undefined, { INSTAR_HOME: '/y' })).toBe('/y');
    expect(homeDir(undefined, {})).toMatch(/\.instar$/);
  });
});

describe('readOrCreateKey', () => {
  it('creates 256 random bits in a file of mode 600, and reuses them', () => {
    const home = openHome(dir);
    expect(readKey(home, {})).toBeUndefined();
    const made = readOrCreateKey(home, {});
    expect(made.source).toBe('created');
    expect(made.key).toMatch(/^instar_caller_[\w-]{43}$/);
    expect(Buffer.from(made.key.slice('instar_caller_'.length), 'base64url')).toHaveLength(32);
    expect(modeOf(home.keyFile)).toBe(0o600);
    expect(readOrCreateKey(home, {})).toEqual({ key: made.key, source: 'file', tightened: false });
    expect(readdirSync(dir)).toEqual(['key']);
  });

  it('prefers INSTAR_KEY and then writes no file', () => {
    const home = openHome(dir);
    const key = 'k'.repeat(32);
    expect(readOrCreateKey(home, { INSTAR_KEY: key })).toEqual({
      key,
      source: 'environment',
      tightened: false,
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  it('sets a file readable by others to mode 600, and reports it', () => {
    const home = openHome(dir);
    writeFileSync(home.keyFile, 'x'.repeat(40), { mode: 0o644 });
    chmodSync(home.keyFile, 0o644);
    expect(readOrCreateKey(home, {}).tightened).toBe(true);
    expect(modeOf(home.keyFile)).toBe(0o600);
    expect(readOrCreateKey(home, {}).tightened).toBe(false);
  });

  it.each(['hunter2', 'x'.repeat(31), `${'x'.repeat(40)} y`, `${'x'.repeat(40)}é`])(
    'refuses the key %j, does not repeat it, and says how to make one',
    (key) => {
      const home = openHome(dir);
      for (const act of [
        () => readOrCreateKey(home, { INSTAR_KEY: key }),
        () => {
          writeFileSync(home.keyFile, key);
          readOrCreateKey(home, {});
        },
      ]) {
        expect(act).toThrow(/openssl rand/);
        expect(act).not.toThrow(key);
      }
    },
  );

  it('refuses an empty key file and a folder in its place', () => {
    const home = openHome(dir);
    writeFileSync(home.keyFile, '');
    expect(() => readOrCreateKey(home, {})).toThrow(ConfigError);
    rmSync(home.keyFile);
    mkdirSync(home.keyFile);
    expect(() => readOrCreateKey(home, {})).toThrow(ConfigError);
  });
});
