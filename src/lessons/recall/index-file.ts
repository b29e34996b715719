import { hash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../../base/atomic-file.ts';
import { type CountedTerms, countTerms } from './bm25-index.ts';
import { vectorKey } from './embedding-queue.ts';
import { lessonTexts, type SearchedLesson, searchedText } from './lesson-texts.ts';

/** What the index computes of a lesson's texts. */
export interface IndexEntry {
  readonly terms: CountedTerms;
  /** The keys of the vectors of its cues, then of its whole text. */
  readonly vectors: readonly string[];
}

/**
 * What the index computed of each lesson, by `comparedKey`, so that a start reads it instead of all texts. Only hashes are in the
 * file. It is made from lessons alone: without it, and where it is damaged or of another version, everything is computed again.
 */
export interface IndexFile {
  /** Reads the file, with one read. Never rejects. */
  load(): Promise<void>;
  find(key: string): IndexEntry | undefined;
  add(key: string, entry: IndexEntry): void;
  /** All lessons are indexed: what was loaded is dropped, and the file is written later where that is worth it. */
  indexed(keys: () => ReadonlySet<string>): void;
  /** Writes the file without all others: their lessons were erased. Rejects when they cannot be removed. */
  keepOnly(keys: ReadonlySet<string>): Promise<void>;
  close(): Promise<void>;
}

/** Fewer new lessons are computed again at the next start, and not written after every change. */
const WORTH_WRITING = 64;
const WORTH_PART = 0.1;
const LATER_MS = 5000;

export function createIndexFile(path: string): IndexFile {
  const fresh = new Map<string, IndexEntry>();
  let loaded: Entries = NO_ENTRIES;
  let inFile: ReadonlySet<string> = new Set();
  let isIndexed = false;
  let timer: NodeJS.Timeout | undefined;
  let due: (() => ReadonlySet<string>) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (keys: ReadonlySet<string>): Promise<void> => {
    const old = isIndexed ? await readEntries(path) : loaded;
    const entries = [...keys].flatMap((key): [string, IndexEntry][] => {
      const entry = fresh.get(key) ?? old.find(key);
      return entry === undefined ? [] : [[key, entry]];
    });
    await replaceFile(path, encode(entries));
    inFile = new Set(entries.map(([key]) => key));
    for (const key of [...fresh.keys()]) if (inFile.has(key) || !keys.has(key)) fresh.delete(key);
  };
  const writeDue = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const keys = due;
    due = undefined;
    // What cannot be written is computed again at the next start.
    if (keys !== undefined) writing = writing.then(() => write(keys())).catch(() => undefined);
  };

  return {
    load: async () => {
      loaded = await readEntries(path);
      inFile = new Set(loaded.keys);
      // Damaged, or of another version.
      if (inFile.size === 0) await rm(path, { force: true }).catch(() => undefined);
    },
    find: (key) => fresh.get(key) ?? loaded.find(key),
    add: (key, entry) => {
      if (!inFile.has(key)) fresh.set(key, entry);
    },
    indexed: (keys) => {
      const isFirst = !isIndexed;
      isIndexed = true;
      loaded = NO_ENTRIES;
      const isWorthIt = fresh.size >= Math.max(WORTH_WRITING, inFile.size * WORTH_PART);
      // Something may have been erased by a process that was killed before it wrote this file.
      const hasOthers = isFirst && inFile.size > 0 && hasMissing(keys(), inFile);
      if (!isWorthIt && !hasOthers) return;
      due = keys;
      timer ??= setTimeout(writeDue, LATER_MS).unref();
    },
    keepOnly: (keys) => {
      const erase = async (): Promise<void> => {
        for (const key of [...fresh.keys()]) if (!keys.has(key)) fresh.delete(key);
        if (!hasMissing(keys, inFile)) return;
        inFile = new Set();
        await write(keys).catch(() => rm(path, { force: true }));
      };
      const erased = writing.then(erase);
      writing = erased.catch(() => undefined);
      return erased;
    },
    close: async () => {
      writeDue();
      await writing;
    },
  };
}

/** What the index needs of a lesson, computed from its texts. */
export function indexEntryOf(lesson: SearchedLesson): IndexEntry {
  const { cues, whole } = lessonTexts(lesson);
  return { terms: countTerms(searchedText(lesson)), vectors: [...cues, whole].map(vectorKey) };
}

const hasMissing = (keys: ReadonlySet<string>, inFile: ReadonlySet<string>): boolean =>
  [...inFile].some((key) => !keys.has(key));

interface Entries {
  readonly keys: readonly string[];
  find(key: string): IndexEntry | undefined;
}

const NO_ENTRIES: Entries = { keys: [], find: () => undefined };

/*
 * The file: a header of 64 bytes with the version, the checksum of the rest at its end; three counts; then one array after the
 * other, the widest numbers first, so that each can be read where it lies.
 */
const HEADER_BYTES = 64;
const CHECK_AT = HEADER_BYTES - 4;
const COUNTS_BYTES = 16;
const KEY_BYTES = 20;
const LARGEST_BYTES = 2 ** 30;

/** Changes with the rules for terms and texts, whoever forgets to change a number here. */
const PROBE: SearchedLesson = {
  text: {
    name: 'deploy-index',
    description: 'When deploying src/app.ts v1.2.0, use --force',
    content: "Don't migrate the users' databases twice. 数据库 Straße naïve snake_case camelCase C++",
    note: { keywords: ['ECONNREFUSED', 'running'], context: 'A weekly release of the service failed.' },
  },
};

function createHeader(): Buffer {
  const { terms, vectors } = indexEntryOf(PROBE);
  const rules = hash('sha1', JSON.stringify([[...terms.hashes], [...terms.counts], vectors]), 'hex');
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(`instar recall 1 ${rules.slice(0, 32)}\n`);
  return header;
}

/** Where each array begins, for counts of entries, terms and vectors. */
function layoutOf(entries: number, terms: number, vectors: number) {
  const hashes = HEADER_BYTES + COUNTS_BYTES;
  const termEnds = hashes + terms * 8;
  const vectorEnds = termEnds + entries * 4;
  const keys = vectorEnds + entries * 4;
  const vectorKeys = keys + entries * KEY_BYTES;
  const counts = vectorKeys + vectors * KEY_BYTES;
  return { hashes, termEnds, vectorEnds, keys, vectorKeys, counts, length: counts + terms };
}

function encode(entries: readonly (readonly [string, IndexEntry])[]): Uint8Array {
  const terms = entries.reduce((sum, [, entry]) => sum + entry.terms.counts.length, 0);
  const vectors = entries.reduce((sum, [, entry]) => sum + entry.vectors.length, 0);
  const layout = layoutOf(entries.length, terms, vectors);
  const bytes = Buffer.from(new ArrayBuffer(layout.length));
  createHeader().copy(bytes);
  new Uint32Array(bytes.buffer, HEADER_BYTES, 3).set([entries.length, terms, vectors]);
  const hashes = new Float64Array(bytes.buffer, layout.hashes, terms);
  const termEnds = new Uint32Array(bytes.buffer, layout.termEnds, entries.length);
  const vectorEnds = new Uint32Array(bytes.buffer, layout.vectorEnds, entries.length);
  let [term, vector] = [0, 0];
  for (const [at, [key, entry]] of entries.entries()) {
    bytes.write(key, layout.keys + at * KEY_BYTES, KEY_BYTES, 'base64');
    hashes.set(entry.terms.hashes, term);
    bytes.set(entry.terms.counts, layout.counts + term);
    for (const one of entry.vectors)
      bytes.write(one, layout.vectorKeys + vector++ * KEY_BYTES, KEY_BYTES, 'base64');
    term += entry.terms.counts.length;
    termEnds[at] = term;
    vectorEnds[at] = vector;
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(HEADER_BYTES)), CHECK_AT);
  return bytes;
}

/** Empty where the file is missing, damaged or of another version. Never rejects. */
async function readEntries(path: string): Promise<Entries> {
  const bytes = await readWhole(path).catch(() => undefined);
  if (bytes === undefined || bytes.length < HEADER_BYTES + COUNTS_BYTES) return NO_ENTRIES;
  if (!bytes.subarray(0, CHECK_AT).equals(createHeader().subarray(0, CHECK_AT))) return NO_ENTRIES;
  if (bytes.readUInt32LE(CHECK_AT) !== crc32(bytes.subarray(HEADER_BYTES))) return NO_ENTRIES;
  const [count = 0, terms = 0, vectors = 0] = new Uint32Array(bytes.buffer, HEADER_BYTES, 3);
  const layout = layoutOf(count, terms, vectors);
  if (layout.length !== bytes.length) return NO_ENTRIES;
  const termEnds = new Uint32Array(bytes.buffer, layout.termEnds, count);
  const vectorEnds = new Uint32Array(bytes.buffer, layout.vectorEnds, count);
  const keyAt = (start: number, at: number): string =>
    bytes.toString('base64', start + at * KEY_BYTES, start + (at + 1) * KEY_BYTES);
  const places = new Map<string, number>();
  for (let at = 0; at < count; at++) places.set(keyAt(layout.keys, at), at);
  return {
    keys: [...places.keys()],
    find: (key) => {
      const at = places.get(key);
      if (at === undefined) return undefined;
      const from = at === 0 ? 0 : (termEnds[at - 1] ?? 0);
      const first = at === 0 ? 0 : (vectorEnds[at - 1] ?? 0);
      const length = (termEnds[at] ?? 0) - from;
      return {
        terms: {
          hashes: new Float64Array(bytes.buffer, layout.hashes + from * 8, length),
          counts: new Uint8Array(bytes.buffer, layout.counts + from, length),
        },
        vectors: Array.from({ length: (vectorEnds[at] ?? 0) - first }, (_, nth) =>
          keyAt(layout.vectorKeys, first + nth),
        ),
      };
    },
  };
}

/** Into a buffer of its own, so that its arrays are aligned. */
async function readWhole(path: string): Promise<Buffer | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > LARGEST_BYTES) return undefined;
    const bytes = Buffer.from(new ArrayBuffer(size));
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytesRead === size ? bytes : undefined;
  } finally {
    await file.close();
  }
}
