import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const LEAVE_SQLITE = fileURLToPath(new URL('./leave-sqlite.mjs', import.meta.url));
/** `EXITS=200 npx vitest run test/base/sqlite-gate.test.ts` counts more of them. */
const EXITS = Number(process.env.EXITS ?? 10);
const WAYS = { exit: 7, throw: 1, empty: 7, terminate: 7, loading: 7 };

const load: ChildProcess[] = [];
beforeAll(() => {
  for (const _ of [1, 2]) load.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
});
afterAll(() => {
  for (const one of load) one.kill('SIGKILL');
});

const leave = (way: string): Promise<{ readonly code: unknown; readonly stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [LEAVE_SQLITE, way], (error, _, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stderr }),
    );
  });

it.each(Object.entries(WAYS))(
  'a process that ends by "%s" while threads are inside SQLite has its exit code %i (not that of an abort)',
  async (way, code) => {
    const tries = Math.ceil(EXITS / Object.keys(WAYS).length);
    const wrong: unknown[] = [];
    for (let n = 0; n < tries; n++) {
      const left = await leave(way);
      if (left.code !== code || left.stderr.includes('Napi')) wrong.push(left);
    }
    expect({ tries, wrong }).toEqual({ tries, wrong: [] });
  },
  30_000 * EXITS,
);
