import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Home } from '../../config/home.ts';
import { createPrivateFile } from '../../config/private-file.ts';

/** What makes the marks of redacted secrets unguessable and the same from day to day; made on first use. */
export function readOrCreateSalt({ saltFile }: Home): string {
  createPrivateFile(saltFile, `${randomBytes(32).toString('base64url')}\n`);
  return readFileSync(saltFile, 'utf8').trim();
}
