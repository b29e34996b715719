import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readInProcess } from './read-in-process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'instar-native-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('an installed onnxruntime-node that does not work is named with its reason, and sentences are read all the same', async () => {
  const broken = path.join(folder, 'onnxruntime-node');
  mkdirSync(broken, { recursive: true });
  writeFileSync(path.join(broken, 'package.json'), '{ "version": "1.30.0", "main": "index.js" }');
  writeFileSync(path.join(broken, 'index.js'), 'throw new Error("GLIBC_2.99 not found")');
  const texts = ['rotate the api keys'];
  const [without, beside] = await Promise.all([readInProcess('', texts), readInProcess(folder, texts)]);
  expect(without.engine).toBe('WebAssembly');
  expect(without.problem).toBeUndefined();
  expect(beside).toMatchObject({
    engine: 'WebAssembly',
    problem: expect.stringContaining('GLIBC_2.99 not found'),
  });
  expect(beside.vectors).toEqual(without.vectors);
  expect(beside.scores).toEqual(without.scores);
});
