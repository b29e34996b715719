import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';

interface SaltPlace {
  readonly saltFile: string;
}

export const newSalt = (): string => randomBytes(32).toString('base64url');

/** The HMAC key of redaction marks: equal secrets keep equal marks over restarts. Created on first use. */
export function readOrCreateSalt({ saltFile }: SaltPlace): string {
  createFileSync(saltFile, `${newSalt()}\n`);
  return readFileSync(saltFile, 'utf8').trim();
}

/** The home's salt, or one for this process alone where the home has none yet. Writes nothing. */
export function readSalt({ saltFile }: SaltPlace): string {
  try {
    return readFileSync(saltFile, 'utf8').trim() || newSalt();
  } catch {
    return newSalt();
  }
}
