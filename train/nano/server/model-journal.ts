import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, rm, truncate } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../../../src/base/atomic-file.ts';
import { asObject, type JsonObject, parseJson } from '../../../src/core/json.ts';

/** An id as a file name: ids have colons, which some file systems do not allow. */
export const fileNameOfId = (id: string): string => id.replaceAll(':', '_');

/** A file whose content is not what was written: truncated, changed or outdated. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
}

/** The content. Rejects with a DamagedFileError when it does not have this hash. */
export async function readChecked(file: string, sha: string): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new DamagedFileError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (sha256(bytes) !== sha)
    throw new DamagedFileError(`${file} is damaged: its SHA-256 has changed since it was saved`);
  return bytes;
}

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** One record of a journal: a head in JSON, and the bytes that belong to it. */
export interface JournalRecord {
  readonly head: JsonObject;
  readonly bytes: Uint8Array;
}

/**
 * An append-only file, until a new file replaces it. Calls are carried out in order. A write that fails leaves the file
 * unchanged: the call rejects, and later ones may succeed.
 */
export interface ModelJournal {
  readonly size: number;
  /** A durable append is on the disk when it resolves. Others survive the end of the process, but not a power cut. */
  append(records: readonly JournalRecord[], durable: boolean): Promise<void>;
  /** Atomically creates a new file with these records, then removes the old one. */
  rotate(file: string, records: readonly JournalRecord[]): Promise<void>;
  close(): Promise<void>;
}

const FRAME_BYTES = 16;
const NOTHING = new Uint8Array(0);

/** Length of head, length of bytes, checksum of the lengths, checksum of what follows. */
function encodeRecord({ head, bytes }: JournalRecord): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const frame = Buffer.alloc(FRAME_BYTES);
  frame.writeUInt32LE(text.length, 0);
  frame.writeUInt32LE(bytes.length, 4);
  frame.writeUInt32LE(crc32(frame.subarray(0, 8)), 8);
  frame.writeUInt32LE(crc32(bytes, crc32(text)), 12);
  return Buffer.concat([frame, text, bytes]);
}

/**
 * All records. A last record that was not completely written is truncated, and so are zeros, which some file systems leave at
 * the end after a power cut. Rejects with a DamagedFileError for any other damage.
 */
export async function readModelJournal(file: string): Promise<readonly JournalRecord[]> {
  const content = await readFile(file);
  const records: JournalRecord[] = [];
  let at = 0;
  while (at + FRAME_BYTES <= content.length) {
    const damaged = new DamagedFileError(`${file} is damaged at byte ${at} of ${content.length}`);
    if (crc32(content.subarray(at, at + 8)) !== content.readUInt32LE(at + 8)) {
      if (content.subarray(at).every((byte) => byte === 0)) break;
      throw damaged;
    }
    const start = at + FRAME_BYTES;
    const headEnd = start + content.readUInt32LE(at);
    const end = headEnd + content.readUInt32LE(at + 4);
    if (end > content.length) break;
    if (crc32(content.subarray(start, end)) !== content.readUInt32LE(at + 12)) {
      if (end === content.length) break;
      throw damaged;
    }
    const head = asObject(parseJson(content.toString('utf8', start, headEnd)));
    records.push({ head, bytes: content.subarray(headEnd, end) });
    at = end;
  }
  if (at < content.length) await truncate(file, at);
  return records;
}

/** Opens an existing journal. */
export async function openModelJournal(path: string): Promise<ModelJournal> {
  let file = path;
  let handle: FileHandle = await open(file, 'r+');
  let size = (await handle.stat()).size;
  let last: Promise<void> = Promise.resolve();
  /** Appends that wait are written and synced together. */
  let waiting: { bytes: Buffer[]; durable: boolean; done: Promise<void> } | undefined;

  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const done = last.then(step);
    last = done.catch(() => undefined);
    return done;
  };
  const write = async (bytes: Buffer, durable: boolean): Promise<void> => {
    try {
      let written = 0;
      while (written < bytes.length) {
        const part = await handle.write(bytes, written, bytes.length - written, size + written);
        written += part.bytesWritten;
      }
      if (durable) await handle.datasync();
    } catch (error) {
      await handle.truncate(size);
      throw error;
    }
    size += bytes.length;
  };

  return {
    get size() {
      return size;
    },
    append: (records, durable) => {
      if (waiting === undefined) {
        const group = { bytes: [] as Buffer[], durable: false, done: Promise.resolve() };
        waiting = group;
        group.done = inTurn(() => {
          if (waiting === group) waiting = undefined;
          return write(Buffer.concat(group.bytes), group.durable);
        });
      }
      waiting.bytes.push(...records.map(encodeRecord));
      waiting.durable ||= durable;
      return waiting.done;
    },
    rotate: (next, records) => {
      // Appends after this call go to the new file.
      waiting = undefined;
      return inTurn(async () => {
        const content = Buffer.concat(records.map(encodeRecord));
        await replaceFile(next, content);
        const opened = await open(next, 'r+');
        const old = { file, handle };
        file = next;
        handle = opened;
        size = content.length;
        await old.handle.close();
        await rm(old.file, { force: true });
      });
    },
    close: () => inTurn(() => handle.close()),
  };
}

export const headOnly = (head: JsonObject): JournalRecord => ({ head, bytes: NOTHING });

/** Creates a journal with its first records. */
export async function createModelJournal(
  file: string,
  records: readonly JournalRecord[],
): Promise<ModelJournal> {
  await replaceFile(file, Buffer.concat(records.map(encodeRecord)));
  return openModelJournal(file);
}
