import { createHash } from 'node:crypto';
import { constants, lstatSync, readdirSync } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { isTemporaryFile, replaceFile } from '../../base/atomic-file.ts';
import type { Clock } from '../../core/clock.ts';
import { isSkillFault, LARGEST_FILE_BYTES, SKILL_FILE, type SkillFault } from './skill-file.ts';

/** The hash of the file that each folder had when it and the library last agreed. */
type RecordedHashes = ReadonlyMap<string, { readonly hash: string }>;

/** The content of a skill's folder. */
export type FolderContent =
  /** The text is absent when the file equals its record. */
  | { readonly kind: 'file'; readonly hash: string; readonly text?: string }
  | { readonly kind: 'none' }
  /** Something that is not read and must not be overwritten. */
  | { readonly kind: 'fault'; readonly why: string };

export interface SkillsScan {
  /** All folders, by name. */
  readonly folders: Map<string, FolderContent>;
  /** Whether a folder equals its record, or has been unchanged for long enough, so that nobody is writing it. */
  readonly isQuiet: (folder: string) => boolean;
  /** Whether all folders are quiet. */
  readonly isAllQuiet: boolean;
  /** Files that were set aside because an edit met a newer revision, relative to the mirror's folder. */
  readonly setAside: readonly string[];
  /** Temporary files of a killed process, likewise. */
  readonly leftovers: readonly string[];
}

export const SET_ASIDE = `${SKILL_FILE}.yours`;

/** File systems round times: within this span a second write may leave the same time. */
const TIME_STEP_MS = 2500;

export const fileHash = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Folders between two pauses: about a millisecond. Through a thread of Node's pool each look would take ten times as much CPU. */
const PAUSE_AFTER = 64;

/** Scans a folder of skills. Files that have not changed since they were recorded are not read again. */
export function createScanner(
  dir: string,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  quietMs: number,
): (records: RecordedHashes) => Promise<SkillsScan> {
  const hashes = new Map<string, { readonly stamp: string; readonly hash: string }>();
  const seen = createSeenFiles(join(dir, SEEN_FILE));
  const findRestless = createFindRestless(clock, quietMs);

  const extras = createListExtras(dir, clock, seen);

  const isAsRecorded = (folder: string, stamp: string | undefined, recorded: string | undefined): boolean => {
    if (stamp === undefined || recorded === undefined) return false;
    const before = hashes.get(folder);
    if (before?.stamp === stamp && before.hash === recorded) return true;
    if (!seen.has(folder, { stamp, hash: recorded })) return false;
    hashes.set(folder, { stamp, hash: recorded });
    return true;
  };
  const read = async (
    folder: string,
    stamp: string | undefined,
    recorded: string | undefined,
  ): Promise<FolderContent> => {
    const path = join(dir, folder, SKILL_FILE);
    const file = await readUntrustedFile(path);
    if (file === undefined) return { kind: 'none' };
    if (isSkillFault(file)) return { kind: 'fault', why: file.why };
    const hash = fileHash(file.bytes);
    if (stamp === undefined || stampOf(path, clock.now()) !== stamp) hashes.delete(folder);
    else {
      hashes.set(folder, { stamp, hash });
      seen.countFresh();
    }
    return hash === recorded ? { kind: 'file', hash } : { kind: 'file', hash, text: file.text };
  };

  return async (records) => {
    const folders = new Map<string, FolderContent>();
    const setAside: string[] = [];
    const leftovers: string[] = [];
    await seen.load();
    for (const [at, entry] of (await readdir(dir, { withFileTypes: true })).entries()) {
      if (at % PAUSE_AFTER === 0) await nextTick();
      const { name } = entry;
      if (isTemporaryFile(name)) leftovers.push(name);
      if (name.startsWith('.')) continue;
      if (entry.isSymbolicLink())
        folders.set(name, { kind: 'fault', why: 'is a link, which is not followed' });
      if (!entry.isDirectory()) continue;
      for (const file of extras.of(name))
        (file.startsWith(SET_ASIDE) ? setAside : leftovers).push(join(name, file));
      const hash = records.get(name)?.hash;
      const stamp = stampOf(join(dir, name, SKILL_FILE), clock.now());
      if (hash !== undefined && isAsRecorded(name, stamp, hash)) folders.set(name, { kind: 'file', hash });
      else folders.set(name, await read(name, stamp, hash));
    }
    await seen.save(() => [...hashes, ...extras.without()]);
    const restless = findRestless(folders, records);
    const isQuiet = (folder: string): boolean => !restless.has(folder);
    return { folders, isQuiet, isAllQuiet: restless.size === 0, setAside, leftovers };
  };
}

/** What a file was like when its content was known. */
interface SeenFile {
  readonly stamp: string;
  readonly hash: string;
}

const SEEN_FILE = '.mirror.seen';
const LARGEST_SEEN_BYTES = 64 * 2 ** 20;
const TOKEN_LENGTH = 16;
/** Fewer new ones are read at the next start, and not written after every change. */
const WORTH_SAVING = 64;
const WORTH_PART = 0.1;

/**
 * The files that equalled their records, for the next start: by a hash over the name of the folder, the record and the stamp, so
 * that a damaged or foreign line only means that a file is read, and no name is in it.
 */
function createSeenFiles(path: string) {
  let tokens: ReadonlySet<string> | undefined;
  let fresh = 0;
  const tokenOf = (folder: string, { stamp, hash }: SeenFile): string =>
    createHash('sha1').update(`${folder}\0${hash}\0${stamp}`).digest('base64').slice(0, TOKEN_LENGTH);
  return {
    load: async (): Promise<void> => {
      if (tokens !== undefined) return;
      const file = await readUntrustedFile(path, LARGEST_SEEN_BYTES);
      tokens = new Set(file === undefined || isSkillFault(file) ? [] : file.text.split('\n'));
    },
    has: (folder: string, file: SeenFile): boolean => tokens?.has(tokenOf(folder, file)) === true,
    countFresh: (): void => {
      fresh++;
    },
    save: async (files: () => Iterable<readonly [string, SeenFile]>): Promise<void> => {
      if (fresh < Math.max(WORTH_SAVING, (tokens?.size ?? 0) * WORTH_PART)) return;
      fresh = 0;
      tokens = new Set([...files()].map(([folder, file]) => tokenOf(folder, file)));
      // What cannot be written is read again at the next start.
      await replaceFile(path, `${[...tokens].join('\n')}\n`).catch(() => undefined);
    },
  };
}

const NO_EXTRAS: readonly string[] = [];
/** In the place of a hash, for a folder. */
const WITHOUT_EXTRAS = 'nothing else';

/** The files of a folder that were set aside or left by a killed process. A folder is listed again when its own times change. */
function createListExtras(
  dir: string,
  clock: Pick<Clock, 'now'>,
  seen: Pick<ReturnType<typeof createSeenFiles>, 'has' | 'countFresh'>,
) {
  const listed = new Map<
    string,
    { readonly stamp: string | undefined; readonly extras: readonly string[] }
  >();
  const list = (folder: string, stamp: string | undefined): readonly string[] => {
    if (stamp !== undefined && seen.has(folder, { stamp, hash: WITHOUT_EXTRAS })) return NO_EXTRAS;
    const found = listFolder(join(dir, folder)).filter(
      (file) => file.startsWith(SET_ASIDE) || isTemporaryFile(file),
    );
    if (stamp !== undefined && found.length === 0) seen.countFresh();
    return found.length === 0 ? NO_EXTRAS : found;
  };
  return {
    of: (folder: string): readonly string[] => {
      const stamp = stampOf(join(dir, folder), clock.now());
      const before = listed.get(folder);
      if (stamp !== undefined && before?.stamp === stamp) return before.extras;
      const extras = list(folder, stamp);
      listed.set(folder, { stamp, extras });
      return extras;
    },
    /** The folders that have none, as they were when they were listed. */
    without: (): readonly (readonly [string, SeenFile])[] =>
      [...listed].flatMap(([folder, { stamp, extras }]): (readonly [string, SeenFile])[] =>
        stamp === undefined || extras.length > 0 ? [] : [[folder, { stamp, hash: WITHOUT_EXTRAS }]],
      ),
  };
}

/** A folder that was just deleted is empty. One that cannot be listed gives a fault when its file is read. */
function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Changes with every write; undefined when the file's times are too recent to tell. */
function stampOf(path: string, now: number): string | undefined {
  try {
    const { ino, size, mtimeMs, ctimeMs } = lstatSync(path);
    if (Math.abs(now - Math.max(mtimeMs, ctimeMs)) < TIME_STEP_MS) return undefined;
    return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  } catch {
    return undefined;
  }
}

/**
 * Finds the folders that may still be written. Editors write in steps: they truncate a file and fill it, or delete it and create
 * another one. A folder has settled when two passes some time apart find the same content; file times are not used, since tools
 * set them freely.
 */
function createFindRestless(
  clock: Pick<Clock, 'monotonic'>,
  quietMs: number,
): (folders: ReadonlyMap<string, FolderContent>, records: RecordedHashes) => ReadonlySet<string> {
  let before: ReadonlyMap<string, { readonly look: string; readonly at: number }> = new Map();
  return (folders, records) => {
    const now = clock.monotonic();
    const changed = new Map<string, { readonly look: string; readonly at: number }>();
    const restless = new Set<string>();
    for (const folder of new Set([...records.keys(), ...folders.keys()])) {
      const content = folders.get(folder);
      const look = content?.kind === 'file' ? content.hash : (content?.kind ?? 'none');
      if (look === (records.get(folder)?.hash ?? 'none') || look === 'fault') continue;
      const last = before.get(folder);
      const at = last?.look === look ? last.at : now;
      changed.set(folder, { look, at });
      if (last?.look !== look || now - at < quietMs) restless.add(folder);
    }
    before = changed;
    return restless;
  };
}

interface TextFile {
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
