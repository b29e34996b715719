import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { isAtLeast, type LOG_LEVELS, timeOf } from '../base/log-line.ts';
import { rotatedNames } from '../base/rotating-file.ts';
import { isObject, type JsonObject, parseJson } from '../core/json.ts';

/** A line of the log file and its fields. */
export interface StoredLine {
  readonly text: string;
  readonly fields: JsonObject;
}

export interface LogFilter {
  readonly level: (typeof LOG_LEVELS)[number];
  /** Milliseconds; older lines are left out. */
  readonly since: number;
}

/** A line that was cut off by a full disk or a crash is not a record. */
const parseLine = (text: string): StoredLine | undefined => {
  const fields = parseJson(text);
  return isObject(fields) ? { text, fields } : undefined;
};

const fits = ({ fields }: StoredLine, { level, since }: LogFilter): boolean =>
  isAtLeast(fields, level) && !(timeOf(fields) < since);

/** The last `most` lines that fit, the oldest first. Files are read from the newest on, and only as many as needed. */
export function readLastLines(file: string, files: number, filter: LogFilter, most: number): StoredLine[] {
  const found: StoredLine[] = [];
  for (const name of rotatedNames(file, files)) {
    const lines = readLines(name);
    for (let at = lines.length - 1; at >= 0 && found.length < most; at--) {
      const line = parseLine(lines[at] ?? '');
      if (line !== undefined && fits(line, filter)) found.push(line);
    }
    const first = lines.length === 0 ? undefined : parseLine(lines[0] ?? '');
    if (found.length >= most || (first !== undefined && timeOf(first.fields) < filter.since)) break;
  }
  return found.reverse();
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

interface LogFollower {
  /** The lines that were written since the last call. */
  next(): readonly StoredLine[];
  close(): void;
}

const CHUNK_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

/**
 * Follows a rotated file from its present end on. It keeps the file open, so that the lines of a file that was renamed
 * meanwhile are read to their end before the next file is begun. The file need not exist yet.
 */
export function followLog(file: string, files: number, filter: LogFilter): LogFollower {
  let current: { readonly fd: number; readonly inode: number } | undefined;
  let offset = 0;
  /** The beginning of a line whose end is not written yet. */
  let rest: Buffer = Buffer.alloc(0);

  const open = (name: string): boolean => {
    try {
      const fd = openSync(name, 'r');
      current = { fd, inode: fstatSync(fd).ino };
      [offset, rest] = [0, Buffer.alloc(0)];
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  };
  const close = (): void => {
    if (current !== undefined) closeSync(current.fd);
    current = undefined;
  };
  const readRest = (): readonly StoredLine[] => {
    if (current === undefined) return [];
    // Somebody emptied the file.
    if (fstatSync(current.fd).size < offset) [offset, rest] = [0, Buffer.alloc(0)];
    const parts = [rest];
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let count = -1; count !== 0; offset += count) {
      count = readSync(current.fd, chunk, 0, CHUNK_BYTES, offset);
      parts.push(Buffer.from(chunk.subarray(0, count)));
    }
    const bytes = Buffer.concat(parts);
    const end = bytes.lastIndexOf(LINE_BREAK) + 1;
    rest = bytes.subarray(end);
    return bytes
      .toString('utf8', 0, end)
      .split('\n')
      .flatMap((text) => parseLine(text) ?? [])
      .filter((line) => fits(line, filter));
  };
  /** The files that were begun after the one that is open, the oldest first. */
  const laterFiles = (): readonly string[] => {
    const names = rotatedNames(file, files);
    const inodes = names.map((name) => statSync(name, { throwIfNoEntry: false })?.ino);
    const at = current === undefined ? -1 : inodes.indexOf(current.inode);
    // A file that is nowhere any more was deleted, and the current one was begun after it.
    const later = at < 0 ? names.slice(0, 1) : names.slice(0, at);
    return later.filter((name) => inodes[names.indexOf(name)] !== undefined).reverse();
  };

  if (open(file) && current !== undefined) offset = fstatSync((current as { fd: number }).fd).size;
  return {
    next: () => {
      const lines = [...readRest()];
      for (const name of laterFiles()) {
        lines.push(...readRest());
        close();
        if (open(name)) lines.push(...readRest());
      }
      return lines;
    },
    close,
  };
}
