import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTemporaryFolder, runCli } from './run-cli.ts';

const folder = createTemporaryFolder();
afterAll(folder.remove);

it('the tour goes from a wrong date over a correction to a right one, undoes it, and leaves nothing behind', async () => {
  const [home, tmp] = [join(folder.dir, 'home'), join(folder.dir, 'tmp')];
  mkdirSync(home);
  mkdirSync(tmp);
  const { code, stdout } = await runCli(['tour', '--yes', '--json', '--home', home], { TMPDIR: tmp });
  expect(JSON.parse(stdout)).toMatchObject({
    isLearned: true,
    learned: 'Use ISO dates in shipping reports',
    before: 'Order 1041 was shipped on 11/16/26.',
    after: 'Order 1042 was shipped on 2026-11-16.',
    undone: 'Order 1042 was shipped on 11/16/26.',
  });
  expect(code).toBe(0);
  expect(readdirSync(home)).toEqual([]);
  expect(readdirSync(tmp).filter((name) => name.startsWith('instar'))).toEqual([]);
});
