import { TrainingError } from '../core/training.ts';

const BLOCK = 512;
/** Programs fill an archive up to the size of a tape's record. */
const MOST_PADDING = 2 ** 20;

/** Takes a file's bytes, a part at a time. */
export type Sink = (part: Uint8Array) => Promise<void>;

/**
 * Reads a tar archive as it comes. `accept` is asked for a place for each plain file, by the last part of its name; what it
 * has no place for is passed over. Throws a TrainingError when the archive is damaged or cut off.
 */
export async function untar(
  source: AsyncIterable<Uint8Array>,
  accept: (name: string, size: number) => Promise<Sink | undefined>,
): Promise<void> {
  const stream = source[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  const fill = async (): Promise<void> => {
    while (held.length === 0) {
      const next = await stream.next();
      if (next.done === true) throw damaged('it is cut off');
      held = next.value;
    }
  };
  const read = async (length: number, sink: Sink): Promise<void> => {
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
      // Two empty blocks end it; nobody writes one alone.
      if (header.every((byte) => byte === 0)) return await readToEnd(stream);
      const { name, size, isFile } = readTarHeader(header);
      const sink = isFile ? await accept(name, size) : undefined;
      await read(size, sink ?? pass);
      await read((BLOCK - (size % BLOCK)) % BLOCK, pass);
    }
  } finally {
    await stream.return?.();
  }
}

/** To its last byte: whatever unpacks the archive checks it there. */
async function readToEnd(stream: AsyncIterator<Uint8Array>): Promise<void> {
  let size = 0;
  for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
    size += next.value.length;
    if (size > MOST_PADDING) throw damaged('it goes on behind its end');
  }
}

const pass: Sink = async () => undefined;
const damaged = (detail: string): TrainingError =>
  new TrainingError('server', `the archive of the adapter is refused: ${detail}`);

interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly isFile: boolean;
}

function readTarHeader(header: Buffer): TarHeader {
  const text = (from: number, to: number): string =>
    header.toString('latin1', from, to).replace(/\0.*$/s, '').trim();
  // The checksum is taken with its own place full of spaces.
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (Number.parseInt(text(148, 156), 8) !== sum) throw damaged('the checksum of a file in it is wrong');
  const size = sizeIn(header.subarray(124, 136), text(124, 136));
  const kind = text(156, 157);
  const name = text(0, 100).split('/').at(-1) ?? '';
  return { name, size, isFile: kind === '' || kind === '0' };
}

/** In octal; what is too large for it is written in binary behind a first bit. */
function sizeIn(bytes: Buffer, octal: string): number {
  const size = ((bytes[0] ?? 0) & 0x80) === 0 ? Number.parseInt(octal || '0', 8) : bytes.readUIntBE(6, 6);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged('the size of a file in it makes no sense');
  return size;
}
