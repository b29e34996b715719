import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockHome } from '../../src/record/home-lock.ts';
import { scratch } from './store/scratch.ts';
import { startStoreProcess } from './store/store-process.ts';

describe('the lock of a home', () => {
  it('has one owner, and another one after its release', () => {
    const file = join(scratch(), 'lock.db');
    const lock = lockHome(file);
    expect(lock).toBeDefined();
    expect(lockHome(file)).toBeUndefined();
    lock?.release();
    lock?.release();
    const next = lockHome(file);
    expect(next).toBeDefined();
    next?.release();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('writes nothing, so that a full disk does not keep a home from being served', () => {
    const file = join(scratch(), 'lock.db');
    const lock = lockHome(file);
    expect(readdirSync(dirname(file))).toEqual(['lock.db']);
    expect(statSync(file).size).toBe(0);
    lock?.release();
  });

  it('is refused to another process until the owner ends', async () => {
    const file = join(scratch(), 'lock.db');
    const owner = startStoreProcess('lock', file);
    expect(await owner.lines(1)).toEqual(['mine']);
    expect(lockHome(file)).toBeUndefined();
    const second = startStoreProcess('lock', file);
    expect(await second.lines(1)).toEqual(['taken']);
    second.release();
    await second.ended();
    owner.release();
    await owner.ended();
    const lock = lockHome(file);
    expect(lock).toBeDefined();
    lock?.release();
  });

  it('is free at once after its owner was killed (no stale lock)', async () => {
    const file = join(scratch(), 'lock.db');
    for (let cycle = 0; cycle < 3; cycle++) {
      const owner = startStoreProcess('lock', file);
      expect(await owner.lines(1)).toEqual(['mine']);
      owner.kill('SIGKILL');
      expect(await owner.ended()).toMatchObject({ signal: 'SIGKILL' });
    }
    const lock = lockHome(file);
    expect(lock).toBeDefined();
    lock?.release();
  });

  it('goes to exactly one of several processes that start together', async () => {
    const file = join(scratch(), 'lock.db');
    for (let round = 0; round < 2; round++) {
      const children = [1, 2, 3].map(() => startStoreProcess('lock', file));
      const answers = await Promise.all(children.map((child) => child.lines(1)));
      expect(answers.flat().toSorted()).toEqual(['mine', 'taken', 'taken']);
      for (const child of children) child.release();
      await Promise.all(children.map((child) => child.ended()));
    }
  });

  it('throws `io` when its folder does not exist', () => {
    expect(() => lockHome(join(scratch(), 'missing', 'lock.db'))).toThrow(
      expect.objectContaining({ name: 'StoreError', code: 'io' }),
    );
  });
});
