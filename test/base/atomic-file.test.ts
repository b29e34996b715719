import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createFileSync,
  isTemporaryFile,
  type ReplaceOptions,
  replaceFile,
  replaceFileSync,
} from '../../src/base/atomic-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'instar-atomic-'));
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true, force: true });
});
const modeOf = (file: string): number => statSync(file).mode & 0o777;

const replacers: readonly [
  string,
  (file: string, text: string | Uint8Array, options?: ReplaceOptions) => Promise<boolean>,
][] = [
  [
    'replaceFile',
    (file, text, { mayReplace, ...options } = {}) =>
      replaceFile(file, text, { ...options, ...(mayReplace && { mayReplace: async () => mayReplace() }) }),
  ],
  ['replaceFileSync', async (...args) => replaceFileSync(...args)],
];

describe.each(replacers)('%s', (_, replace) => {
  it('replaces the content and narrows the mode to the owner (not the old mode)', async () => {
    const file = join(dir, 'f');
    writeFileSync(file, 'old', { mode: 0o644 });
    expect(await replace(file, 'new')).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(modeOf(file)).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['f']);
  });

  it('writes bytes as they are and gives the file the wanted mode', async () => {
    const file = join(dir, 'f');
    await replace(file, Uint8Array.of(0, 255, 10), { mode: 0o644 });
    expect([...readFileSync(file)]).toEqual([0, 255, 10]);
    expect(modeOf(file)).toBe(0o644);
  });

  it('replaces a symbolic link (it does not write through it)', async () => {
    writeFileSync(join(dir, 'target'), 'of someone else');
    symlinkSync('target', join(dir, 'f'));
    await replace(join(dir, 'f'), 'ours');
    expect(lstatSync(join(dir, 'f')).isSymbolicLink()).toBe(false);
    expect(readFileSync(join(dir, 'target'), 'utf8')).toBe('of someone else');
  });

  it('keeps the old file and leaves no temporary one when it may not replace', async () => {
    const file = join(dir, 'f');
    writeFileSync(file, 'old');
    expect(await replace(file, 'new', { mayReplace: () => false })).toBe(false);
    const refuse = (): boolean => {
      throw new Error('not now');
    };
    await expect(replace(file, 'new', { mayReplace: refuse })).rejects.toThrow('not now');
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(dir)).toEqual(['f']);
  });

  it('asks after the new content is written, in a file that isTemporaryFile knows', async () => {
    let seen: string[] = [];
    await replace(join(dir, 'f'), 'new', {
      mayReplace: () => {
        seen = readdirSync(dir);
        return true;
      },
    });
    expect(seen).toHaveLength(1);
    expect(isTemporaryFile(seen[0] ?? '')).toBe(true);
    expect(isTemporaryFile('f')).toBe(false);
  });

  it('makes missing folders for the owner only, and only when told to', async () => {
    const file = join(dir, 'a/b/f');
    await expect(replace(file, 'new')).rejects.toThrow(/ENOENT/);
    await replace(file, 'new', { makeFolder: true });
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(modeOf(join(dir, 'a'))).toBe(0o700);
  });

  it('leaves a folder in its place alone, without a temporary file beside it', async () => {
    const place = mkdtempSync(join(dir, 'folder-'));
    await expect(replace(place, 'new')).rejects.toThrow();
    expect(readdirSync(dir)).toHaveLength(1);
  });
});

describe('createFileSync', () => {
  it('lets exactly one of many writers create a file, private to the owner', () => {
    const file = join(dir, 'f');
    const created = Array.from({ length: 20 }, (_, i) => createFileSync(file, String(i)));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe('0');
    expect(modeOf(file)).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['f']);
  });
});
