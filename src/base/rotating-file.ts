import { fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface RotatingFileOptions {
  readonly file: string;
  /** A file that would become larger is renamed to `FILE.1`, the one before it to `FILE.2`, and so on. */
  readonly maxBytes: number;
  /** Files that are kept, the current one included. */
  readonly files: number;
  /** Called once when the file cannot be written, and again after it could be written in between. */
  readonly onFault: (error: Error) => void;
  /** The line that tells how many lines are missing; undefined writes none. */
  readonly describeLoss?: (lines: number) => string;
  /** Pause before the next try after a failed write. */
  readonly retryMs?: number;
}

export interface RotatingFile {
  /** Takes one line with its line break. Returns at once and never throws: writing is done in the background. */
  write(line: string): void;
  /** Resolves when all lines are written or given up. Further lines are dropped. */
  close(): Promise<void>;
}

/** Lines that wait for a slow or full disk; further ones are counted and dropped. */
const MOST_WAITING = 1024 * 1024;
const RETRY_MS = 5_000;
/** How often to look whether somebody moved or deleted the file. */
const LOOK_MS = 2_000;
const PRIVATE = 0o600;

/** The names of a rotated file, the newest first. */
export const rotatedNames = (file: string, files: number): readonly string[] =>
  Array.from({ length: files }, (_, age) => (age === 0 ? file : `${file}.${age}`));

interface CurrentFile {
  readonly handle: FileHandle;
  readonly inode: number;
  size: number;
}

/** The file that is written now. It is opened again when somebody moved or deleted it, and renamed when it is full. */
function openCurrentFile({ file, maxBytes, files }: RotatingFileOptions) {
  let current: CurrentFile | undefined;
  let lookedAt = 0;
  const letGo = async (): Promise<void> => {
    const before = current;
    current = undefined;
    await before?.handle.close();
  };
  const rotate = async (): Promise<void> => {
    await letGo();
    const names = rotatedNames(file, files);
    for (let age = names.length - 1; age > 0; age--)
      await rename(names[age - 1] ?? file, names[age] ?? file).catch(ignoreMissing);
    if (names.length === 1) await rm(file, { force: true });
  };
  return {
    letGo,
    fd: (): number | undefined => current?.handle.fd,
    /** The open file, with room for this many bytes more. */
    withRoom: async (bytes: number): Promise<CurrentFile> => {
      if (current !== undefined && performance.now() - lookedAt > LOOK_MS) {
        lookedAt = performance.now();
        const onDisk = await stat(file).catch(ignoreMissing);
        if (onDisk?.ino !== current.inode) await letGo();
      }
      current ??= await openForAppend(file);
      if (current.size > 0 && current.size + bytes > maxBytes) {
        await rotate();
        current = await openForAppend(file);
      }
      return current;
    },
  };
}

async function openForAppend(file: string): Promise<CurrentFile> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, 'a', PRIVATE);
  try {
    if (process.platform !== 'win32') await handle.chmod(PRIVATE);
    const { size, ino } = await handle.stat();
    return { handle, inode: ino, size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Writes one chunk after the other. */
function createChunkWriter(options: RotatingFileOptions) {
  const current = openCurrentFile(options);
  /** The chunk that is being written, and the size that the file then has; undefined until its file is open. */
  let inFlight: { readonly chunk: Buffer; until?: number } | undefined;
  /** The last write broke off inside a line. */
  let isTorn = false;
  return {
    letGo: current.letGo,
    write: async (text: string, lines: readonly Buffer[]): Promise<void> => {
      const chunk = Buffer.concat([Buffer.from(`${isTorn ? '\n' : ''}${text}`), ...lines]);
      const writing: NonNullable<typeof inFlight> = { chunk };
      inFlight = writing;
      try {
        const target = await current.withRoom(chunk.length);
        writing.until = target.size + chunk.length;
        for (let done = 0; done < chunk.length; ) {
          const { bytesWritten } = await target.handle.write(chunk, done);
          done += bytesWritten;
          target.size += bytesWritten;
          isTorn = done < chunk.length;
        }
      } finally {
        inFlight = undefined;
      }
    },
    /** The process ends now: what is being written and what still waits is written without waiting. */
    writeRest: (waiting: readonly Buffer[]): void => {
      if (inFlight === undefined && waiting.length === 0) return;
      const fd = current.fd() ?? openNow(options.file);
      const isDone = inFlight?.until !== undefined && fstatSync(fd).size >= inFlight.until;
      writeSync(fd, Buffer.concat([...(inFlight && !isDone ? [inFlight.chunk] : []), ...waiting]));
    },
  };
}

/** How many of the lines fit into one file: at least one. */
function countFitting(lines: readonly Buffer[], maxBytes: number): number {
  let bytes = 0;
  const end = lines.findIndex((line, index) => {
    bytes += line.length;
    return index > 0 && bytes > maxBytes;
  });
  return end < 0 ? lines.length : end;
}

/**
 * Appends lines to a private file of limited size without blocking the thread. One process may write a file at a time. A
 * full or failing disk costs lines, never the process. When the process exits, waiting lines are written at once; only a
 * kill loses them.
 */
export function openRotatingFile(options: RotatingFileOptions): RotatingFile {
  const { maxBytes, onFault, describeLoss, retryMs = RETRY_MS } = options;
  const chunks = createChunkWriter(options);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let isFaulty = false;
  let running: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  let isClosed = false;

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const count = countFitting(waiting, maxBytes);
      const [lines, lostBefore] = [waiting.slice(0, count), lost];
      waiting = waiting.slice(count);
      try {
        await chunks.write(lostBefore > 0 ? (describeLoss?.(lostBefore) ?? '') : '', lines);
        for (const { length } of lines) waitingBytes -= length;
        lost -= lostBefore;
        isFaulty = false;
      } catch (error) {
        // The lines are written again, also those that the disk took in part.
        waiting = [...lines, ...waiting];
        await chunks.letGo().catch(() => undefined);
        return fail(error as Error);
      }
    }
  };
  const report = (error: Error): void => {
    if (!isFaulty) onFault(error);
  };
  const fail = (error: Error): void => {
    report(error);
    isFaulty = true;
    again = setTimeout(() => {
      again = undefined;
      start();
    }, retryMs);
    again.unref();
  };
  const start = (): void => {
    if (running !== undefined || again !== undefined) return;
    running = drain().finally(() => {
      running = undefined;
      if (waiting.length > 0 && !isClosed) start();
    });
  };
  const writeRest = (): void => {
    try {
      chunks.writeRest(waiting);
    } catch (error) {
      report(error as Error);
    }
  };
  process.on('exit', writeRest);

  return {
    write: (line) => {
      if (isClosed) return;
      const bytes = Buffer.from(line);
      if (waitingBytes + bytes.length > MOST_WAITING) {
        lost++;
        return;
      }
      waiting.push(bytes);
      waitingBytes += bytes.length;
      start();
    },
    close: async () => {
      isClosed = true;
      process.off('exit', writeRest);
      clearTimeout(again);
      again = undefined;
      await running;
      // One more try, also after a fault.
      if (waiting.length > 0) await drain();
      clearTimeout(again);
      await chunks.letGo().catch(report);
    },
  };
}

function openNow(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return openSync(file, 'a', PRIVATE);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
