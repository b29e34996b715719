import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const LEAVE_BUSY = fileURLToPath(new URL('./leave-busy.mjs', import.meta.url));

it('a process exits with its exit code (not an abort) although a thread was inside SQLite', () => {
  const { status, signal, stderr } = spawnSync(process.execPath, [LEAVE_BUSY], { encoding: 'utf8' });
  expect({ status, signal, stderr }).toEqual({ status: 7, signal: null, stderr: '' });
});
