import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openVectorCache } from '../../../src/lessons/recall/vector-cache.ts';

const keyOf = (text: string): string => createHash('sha1').update(text).digest('base64');
const vector = Float32Array.from({ length: 32 }, (_, at) => Math.cos(at) / 4);
let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-vectors-'));
  file = path.join(dir, 'vectors');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const fill = async (...texts: readonly string[]): Promise<void> => {
  const cache = await openVectorCache(file, 'model/32', 32);
  for (const text of texts) cache.put(keyOf(text), vector);
  await cache.close();
};
const found = async (text: string, model = 'model/32'): Promise<Float32Array | undefined> => {
  const cache = await openVectorCache(file, model, 32);
  const value = await cache.get(keyOf(text));
  await cache.close();
  return value;
};

describe('the vector cache', () => {
  it('returns stored vectors after a restart', async () => {
    await fill('a', 'b');
    await fill('b', 'c');
    for (const text of ['a', 'b', 'c'])
      expect((await found(text))?.every((value, at) => Math.abs(value - (vector[at] ?? 9)) < 0.002)).toBe(
        true,
      );
    expect(await found('d')).toBeUndefined();
  });

  it('drops the vectors of another model', async () => {
    await fill('a');
    expect(await found('a', 'other/32')).toBeUndefined();
  });

  it('truncates a partial record and appends after the last whole one', async () => {
    await fill('a');
    appendFileSync(file, Buffer.from('torn'));
    await fill('b');
    expect(await found('a')).toBeDefined();
    expect(await found('b')).toBeDefined();
  });

  it('returns nothing for a damaged vector', async () => {
    await fill('a');
    const bytes = readFileSync(file);
    bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(await found('a')).toBeUndefined();
  });

  it('reads vectors in any order, also those that are added between two reads', async () => {
    const texts = Array.from({ length: 1500 }, (_, n) => `text ${n}`);
    const own = (n: number): Float32Array => Float32Array.from({ length: 32 }, (_, at) => Math.sin(n + at));
    const cache = await openVectorCache(file, 'model/32', 32);
    for (const [n, text] of texts.slice(0, 1000).entries()) cache.put(keyOf(text), own(n));
    await cache.close();
    const again = await openVectorCache(file, 'model/32', 32);
    const check = async (n: number): Promise<void> => {
      const [first = Number.NaN] = (await again.get(keyOf(`text ${n}`))) ?? [];
      expect(Math.abs(first - Math.sin(n))).toBeLessThan(0.01);
    };
    await Promise.all([999, 0, 998, 511, 512, 513, 3, 700].map(check));
    for (const [n, text] of texts.entries()) if (n >= 1000) again.put(keyOf(text), own(n));
    await again.keepOnly(new Set(texts.map(keyOf)));
    await Promise.all(Array.from({ length: 300 }, (_, n) => check((n * 7) % 1500)));
    await again.close();
  });
});
