import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LARGEST_FILE_BYTES, type SkillFault } from './skill-file.ts';

export interface TextFile {
  readonly bytes: Buffer;
  readonly text: string;
}

const OPEN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads a file from an untrusted source: no links, no pipes, limited in size, valid UTF-8 only. Never rejects. */
export async function readUntrustedFile(
  path: string,
  limit = LARGEST_FILE_BYTES,
): Promise<TextFile | SkillFault | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, OPEN);
    if (!(await file.stat()).isFile()) return { ok: false, why: 'is not a file' };
    const bytes = await readUpTo(file, limit + 1);
    if (bytes.length > limit) {
      const what = limit === LARGEST_FILE_BYTES ? 'a skill file' : 'an import';
      return { ok: false, why: `is larger than ${limit} bytes, the limit for ${what}` };
    }
    const text = decode(bytes);
    return text === undefined ? { ok: false, why: 'is not UTF-8 text' } : { bytes, text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP' || code === 'EMLINK') return { ok: false, why: 'is a link, which is not followed' };
    return { ok: false, why: `cannot be read (${code ?? 'unknown error'})` };
  } finally {
    await file?.close();
  }
}

/** Does not use the file's size: the file may be growing. */
async function readUpTo(file: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < limit) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(16 * 1024, limit - length)));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
