import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is removed after the test. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'instar-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
