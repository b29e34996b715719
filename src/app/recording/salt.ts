import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFileSync } from '../../base/atomic-file.ts';

/** The HMAC key of redaction marks: equal secrets keep equal marks over restarts. Created on first use. */
export function readOrCreateSalt({ saltFile }: { readonly saltFile: string }): string {
  createFileSync(saltFile, `${randomBytes(32).toString('base64url')}\n`);
  return readFileSync(saltFile, 'utf8').trim();
}
