import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadTaskSource } from '../../train/task-sources.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'instar-source-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const moduleOf = (name: string, text: string): string => {
  const file = path.join(dir, `${name}.mjs`);
  writeFileSync(file, text);
  return pathToFileURL(file).href;
};

describe('a task source that a plan names', () => {
  it('is opened with the options of the plan', async () => {
    const module = moduleOf(
      'good',
      'export const openTaskSource = ({ id }) => ({ train: async () => [{ id }], heldOut: async () => [] });',
    );
    const source = await loadTaskSource({ module, options: { id: 'mine/1' } });
    expect(await source.train(new AbortController().signal)).toEqual([{ id: 'mine/1' }]);
  });

  it('is refused by name when it is missing, exports no openTaskSource, or refuses its options', async () => {
    const modules = {
      [pathToFileURL(path.join(dir, 'absent.mjs')).href]: 'absent.mjs',
      [moduleOf('empty', 'export const other = 1;')]: 'openTaskSource',
      [moduleOf('strict', 'export const openTaskSource = () => { throw new Error("no seed"); };')]: 'no seed',
      'https://example.com/tasks.js': 'not a file: URL',
    };
    for (const [module, reason] of Object.entries(modules)) {
      const refusal = await loadTaskSource({ module, options: {} }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ name: 'TrainingError', category: 'user' });
      expect(String(refusal)).toContain(module);
      expect(String(refusal)).toContain(reason);
    }
  });
});
