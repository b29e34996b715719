import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** A cache of vectors by the hash of their text. A lost vector is only computed again. */
export interface VectorCache {
  get(key: string): Promise<Float32Array | undefined>;
  put(key: string, vector: Float32Array): void;
  /** Passes over all of it once, in its own order: for many vectors much faster than `get`. Damaged ones are left out. */
  readEach(
    isWanted: (key: string) => boolean,
    take: (key: string, row: QuantisedVector) => void,
  ): Promise<void>;
  /** Overwrites all other vectors: they say something about a text that was erased. */
  keepOnly(keys: ReadonlySet<string>): Promise<void>;
  /** Resolves when all vectors are written. */
  close(): Promise<void>;
}

/** One signed byte per dimension, the largest of them ±127, and what they are multiplied by. */
export interface QuantisedVector {
  /** Valid until `take` returns. */
  readonly numbers: Int8Array;
  readonly scale: number;
}

/** A record: key, scale (float), checksum of the rest, one signed byte per dimension. */
const KEY_BYTES = 20;
const SCALE_AT = KEY_BYTES;
const CHECK_AT = KEY_BYTES + 4;
const NUMBERS_AT = KEY_BYTES + 8;
const HEADER_BYTES = 64;
const RECORDS_AT_ONCE = 1024;
const BYTE_MOST = 127;
/**
 * A larger file holds mostly unused vectors: it is emptied at the next start. 100,000 lessons with three triggers each have 250 MB: a
 * limit near that would compute all of them again at every start.
 */
const MOST_BYTES = 1024 * 1024 * 1024;

/**
 * An append-only file of one model's vectors, so that a start does not compute them again. Files of other models and
 * damaged records are ignored. Rejects when the file cannot be opened.
 */
export async function openVectorCache(
  path: string,
  modelId: string,
  dimensions: number,
): Promise<VectorCache> {
  const size = NUMBERS_AT + dimensions;
  const file = await open(path, 'a+', 0o600);
  const { places, length } = await readPlaces(file, headerOf(modelId), size);
  let end = length;
  let writing: Promise<void> = Promise.resolve();
  let isBroken = false;

  const windows = createWindows(file, size);
  const append = async (record: Buffer): Promise<void> => {
    if (isBroken) return;
    try {
      await file.appendFile(record);
    } catch {
      // The disk is full or missing: the next start computes these vectors again.
      isBroken = true;
    }
  };

  return {
    get: async (key) => {
      const place = places.get(key);
      if (place === undefined) return undefined;
      try {
        const record = await windows.read(place);
        return record.length === size && isSound(record, key) ? unpack(record) : undefined;
      } catch {
        // An unreadable record is a cache miss.
        return undefined;
      }
    },
    put: (key, vector) => {
      if (places.has(key) || isBroken) return;
      places.set(key, end);
      end += size;
      const record = pack(key, vector);
      writing = writing.then(() => append(record));
    },
    readEach: async (isWanted, take) => {
      // What is still on its way to the file is read by `get`.
      await eachRecord(file, size, (record) => {
        const key = record.toString('base64', 0, KEY_BYTES);
        if (!isWanted(key) || !isIntact(record)) return;
        const numbers = new Int8Array(record.buffer, record.byteOffset + NUMBERS_AT, size - NUMBERS_AT);
        take(key, { numbers, scale: record.readFloatLE(SCALE_AT) });
      });
    },
    keepOnly: (keys) => {
      const stale = [...places].filter(([key]) => !keys.has(key));
      for (const [key] of stale) places.delete(key);
      windows.forget();
      writing = writing.then(() =>
        overwrite(
          path,
          stale.map(([, place]) => place),
          size,
        ),
      );
      return writing;
    },
    close: async () => {
      await writing;
      await file.close();
    },
  };
}

/** A start reads all vectors, mostly in the order of the file: one look at it serves hundreds of them. */
const WINDOW_RECORDS = 512;
/** First and further cues and whole texts are read in turn, from different parts of the file. */
const WINDOWS = 4;

interface FileWindow {
  readonly start: number;
  readonly bytes: Promise<Buffer>;
}

/** Reads single records, and keeps their neighbours for the next ones. A record is never changed, except that it is erased. */
function createWindows(file: FileHandle, size: number) {
  const span = size * WINDOW_RECORDS;
  let windows: readonly FileWindow[] = [];
  /** Known before it is read, so that whoever asks meanwhile reads the same one. */
  const open = (start: number, stale?: FileWindow): FileWindow => {
    const bytes = file
      .read(Buffer.allocUnsafe(span), 0, span, start)
      .then(({ buffer, bytesRead }) => buffer.subarray(0, bytesRead));
    const opened = { start, bytes };
    windows = [opened, ...windows.filter((one) => one !== stale)].slice(0, WINDOWS);
    return opened;
  };
  const readIn = async ({ start, bytes }: FileWindow, place: number): Promise<Buffer> =>
    (await bytes).subarray(place - start, place - start + size);
  return {
    read: async (place: number): Promise<Buffer> => {
      const known = windows.find(({ start }) => place >= start && place + size <= start + span);
      const record = await readIn(known ?? open(place), place);
      // What was appended since the window was read is not in it.
      return record.length === size || known === undefined ? record : readIn(open(place, known), place);
    },
    forget: (): void => {
      windows = [];
    },
  };
}

/** With a handle of its own: writes to a file that is open for appending go to its end. */
async function overwrite(path: string, starts: readonly number[], size: number): Promise<void> {
  if (starts.length === 0) return;
  const file = await open(path, 'r+');
  try {
    for (const start of starts) await file.write(Buffer.alloc(size), 0, size, start);
    await file.sync();
  } finally {
    await file.close();
  }
}

function headerOf(modelId: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES, ' ');
  header.write(`instar vectors 1 ${modelId}\n`);
  return header;
}

/** The offsets of all records. Truncates a partial record; a file of another model is emptied and gets a new header. */
async function readPlaces(
  file: FileHandle,
  header: Buffer,
  size: number,
): Promise<{ readonly places: Map<string, number>; readonly length: number }> {
  const places = new Map<string, number>();
  const found = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  if (!found.buffer.equals(header) || (await file.stat()).size > MOST_BYTES) {
    await file.truncate(0);
    await file.appendFile(header);
    return { places, length: HEADER_BYTES };
  }
  const length = await eachRecord(file, size, (record, start) => {
    places.set(record.toString('base64', 0, KEY_BYTES), start);
  });
  await file.truncate(length);
  return { places, length };
}

/** Gives each whole record; the same memory is used for later ones. Resolves with where the last one ends. */
async function eachRecord(
  file: FileHandle,
  size: number,
  take: (record: Buffer, start: number) => void,
): Promise<number> {
  const chunk = Buffer.alloc(size * RECORDS_AT_ONCE);
  for (let start = HEADER_BYTES; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, start);
    const records = Math.floor(bytesRead / size);
    for (let at = 0; at < records; at++) take(chunk.subarray(at * size, (at + 1) * size), start + at * size);
    start += records * size;
    if (records < RECORDS_AT_ONCE) return start;
  }
}

function pack(key: string, vector: Float32Array): Buffer {
  const record = Buffer.alloc(NUMBERS_AT + vector.length);
  const scale = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / BYTE_MOST;
  record.write(key, 0, KEY_BYTES, 'base64');
  record.writeFloatLE(scale, SCALE_AT);
  for (const [at, value] of vector.entries())
    record.writeInt8(scale === 0 ? 0 : Math.round(value / scale), NUMBERS_AT + at);
  record.writeUInt32LE(checkOf(record), CHECK_AT);
  return record;
}

function unpack(record: Buffer): Float32Array {
  const scale = record.readFloatLE(SCALE_AT);
  const numbers = new Int8Array(record.buffer, record.byteOffset + NUMBERS_AT, record.length - NUMBERS_AT);
  const vector = new Float32Array(numbers);
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] as number) * scale;
  return vector;
}

const isSound = (record: Buffer, key: string): boolean =>
  record.toString('base64', 0, KEY_BYTES) === key && isIntact(record);

const isIntact = (record: Buffer): boolean => checkOf(record) === record.readUInt32LE(CHECK_AT);

const checkOf = (record: Buffer): number =>
  crc32(record.subarray(NUMBERS_AT), crc32(record.subarray(0, CHECK_AT)));
