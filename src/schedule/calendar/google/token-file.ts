import { chmod, readFile } from 'node:fs/promises';
import { replaceFile } from '../../../base/atomic-file.ts';
import { asObject, asString, parseJson } from '../../../core/json.ts';
import type { TokenStore } from './google-token.ts';

/** A file that only its owner can read. It is replaced as a whole, so that a crash leaves the old one or the new. */
export function createTokenFile(file: string): TokenStore {
  return {
    async read() {
      try {
        const token = asString(asObject(parseJson(await readFile(file, 'utf8'))).refreshToken);
        // One that was copied here by hand may be open to others.
        await chmod(file, 0o600);
        return token === '' ? undefined : token;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(refreshToken) {
      await replaceFile(file, `${JSON.stringify({ refreshToken })}\n`, { makeFolder: true });
    },
  };
}
