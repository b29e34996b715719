import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exitCodeOfBusyProcess, readInProcess } from './read-in-process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'instar-native-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Needs the registry of npm. */
const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
execFileSync('npm', [...install, 'onnxruntime-node@1.30.0'], { stdio: 'ignore' });
const packages = path.join(folder, 'node_modules');

const references = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'reference-vectors.json'), 'utf8'),
) as readonly { readonly text: string }[];
const texts = [...references.map(({ text }) => text), 'x', `no, use tabs ${'and spaces '.repeat(90)}`];

describe('on onnxruntime-node', () => {
  it('vectors and scores of the reader are those of our own kernels, up to less than what an index keeps', async () => {
    const [own, native] = await Promise.all([readInProcess('', texts), readInProcess(packages, texts)]);
    expect([own.engine, native.engine]).toEqual(['WebAssembly', 'onnxruntime-node 1.30.0']);
    for (const [at, vector] of native.vectors.entries()) {
      const cosine = vector.reduce((sum, value, i) => sum + value * (own.vectors[at]?.[i] ?? 0), 0);
      expect(cosine, texts[at]).toBeGreaterThan(0.9999);
    }
    for (const [at, sentences] of native.scores.entries())
      for (const [nth, scores] of sentences.entries())
        for (const [kind, score] of Object.entries(scores))
          expect(
            Math.abs(score - (own.scores[at]?.[nth]?.[kind] ?? 1)),
            `${kind}: ${texts[at]}`,
          ).toBeLessThan(0.005);
  });

  it('threads end while they read, and the process has its own exit code (not that of an abort)', async () => {
    expect(await exitCodeOfBusyProcess(packages, 7)).toBe(7);
  });
});
