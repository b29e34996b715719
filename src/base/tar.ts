import { DecodeError } from './decode-error.ts';

const BLOCK = 512;
/** Writers pad an archive to the size of a tape record. */
const MAX_PADDING = 2 ** 20;

export interface TarFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A tar archive (ustar) of plain files with names of at most 100 bytes. `seconds` is their modification time. */
export function createTar(files: readonly TarFile[], seconds: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { name, bytes } of files)
    parts.push(encodeHeader(name, bytes.length, seconds), bytes, new Uint8Array(paddingOf(bytes.length)));
  parts.push(new Uint8Array(2 * BLOCK));
  return Buffer.concat(parts);
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function encodeHeader(name: string, size: number, seconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > 100)
    throw new RangeError('a file name in a tar archive has at most 100 bytes');
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(seconds, 12), 136);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The sum of all bytes, with the checksum's own eight bytes counted as spaces. */
const checksumOf = (header: Buffer): number =>
  header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);

/** Receives a file's bytes in parts. */
export type TarSink = (part: Uint8Array) => Promise<void>;

/**
 * Reads a tar archive as a stream. For each plain file `accept` returns where its bytes go, or undefined to skip it; `name`
 * is the last part of its path. Rejects with a DecodeError when the archive is damaged or truncated.
 */
export async function extractTar(
  source: AsyncIterable<Uint8Array>,
  accept: (name: string, size: number) => Promise<TarSink | undefined>,
): Promise<void> {
  const stream = source[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  const fill = async (): Promise<void> => {
    while (held.length === 0) {
      const next = await stream.next();
      if (next.done === true) throw new DecodeError('it is truncated');
      held = next.value;
    }
  };
  const read = async (length: number, sink: TarSink): Promise<void> => {
    for (let left = length; left > 0; ) {
      await fill();
      const part = held.subarray(0, left);
      held = held.subarray(part.length);
      left -= part.length;
      await sink(part);
    }
  };
  try {
    for (;;) {
      const parts: Uint8Array[] = [];
      await read(BLOCK, async (part) => void parts.push(part));
      const header = Buffer.concat(parts);
      // Two empty blocks end an archive; no writer writes a single one.
      if (header.every((byte) => byte === 0)) return await readToEnd(stream);
      const { name, size, isFile } = decodeHeader(header);
      const sink = isFile ? await accept(name, size) : undefined;
      await read(size, sink ?? skip);
      await read(paddingOf(size), skip);
    }
  } finally {
    await stream.return?.();
  }
}

const skip: TarSink = async () => undefined;

/** Reads to the last byte, where the decompressor below verifies its checksum. */
async function readToEnd(stream: AsyncIterator<Uint8Array>): Promise<void> {
  let size = 0;
  for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
    size += next.value.length;
    if (size > MAX_PADDING) throw new DecodeError('it has data behind its end');
  }
}

interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly isFile: boolean;
}

function decodeHeader(header: Buffer): TarHeader {
  const text = (from: number, to: number): string =>
    header.toString('latin1', from, to).replace(/\0.*$/s, '').trim();
  if (Number.parseInt(text(148, 156), 8) !== checksumOf(header))
    throw new DecodeError('the checksum of a file in it is wrong');
  const kind = text(156, 157);
  return {
    name: text(0, 100).split('/').at(-1) ?? '',
    size: decodeSize(header.subarray(124, 136), text(124, 136)),
    isFile: kind === '' || kind === '0',
  };
}

/** Octal digits; a larger size is binary, marked by the first bit. */
function decodeSize(bytes: Buffer, octal: string): number {
  const size = ((bytes[0] ?? 0) & 0x80) === 0 ? Number.parseInt(octal || '0', 8) : bytes.readUIntBE(6, 6);
  if (!Number.isSafeInteger(size) || size < 0) throw new DecodeError('the size of a file in it is not valid');
  return size;
}
