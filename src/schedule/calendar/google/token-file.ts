import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
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
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const next = `${file}.${process.pid}.new`;
      await rm(next, { force: true });
      const handle = await open(next, 'wx', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify({ refreshToken })}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(next, file);
    },
  };
}
