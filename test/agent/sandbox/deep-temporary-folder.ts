import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** More levels than any `..` chain of these tests climbs. */
const LEVELS = 12;

/**
 * Workspaces of this test file lie deep inside a folder of its own: a command that escaped through `..` would reach that
 * folder, not the files of this machine.
 */
export function useDeepTemporaryFolder(): void {
  const before = process.env.TMPDIR;
  let scratch = '';
  beforeAll(() => {
    scratch = mkdtempSync(path.join(tmpdir(), 'instar-deep-'));
    const deep = path.join(scratch, ...Array.from({ length: LEVELS }, (_, level) => `level-${level}`));
    mkdirSync(deep, { recursive: true });
    process.env.TMPDIR = deep;
  });
  afterAll(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(scratch, { recursive: true, force: true });
  });
}
