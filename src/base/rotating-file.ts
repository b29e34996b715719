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

/**
 * Appends lines to a private file of limited size without blocking the thread. One process may write a file at a time. A
 * full or failing disk costs lines, never the process. When the process exits, waiting lines are written at once; only a
 * kill loses them.
 */
export function openRotatingFile(options: RotatingFileOptions): RotatingFile {
  const { file, maxBytes, files, onFault, describeLoss, retryMs = RETRY_MS } = options;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let lost = 0;
  /** The chunk that is being written, and the size of the file before it. */
  let inFlight: { readonly chunk: Buffer; readonly from: number } | undefined;
  let current: { readonly handle: FileHandle; readonly inode: number; size: number } | undefined;
  let lookedAt = 0;
  let isFaulty = false;
  /** The last write broke off inside a line. */
  let isTorn = false;
  let running: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  let isClosed = false;

  const openCurrent = async () => {
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
  };
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
  /** The open file, with room for this many bytes more. */
  const fileFor = async (bytes: number) => {
    if (current !== undefined && performance.now() - lookedAt > LOOK_MS) {
      lookedAt = performance.now();
      const found = await stat(file).catch(ignoreMissing);
      if (found?.ino !== current.inode) await letGo();
    }
    current ??= await openCurrent();
    if (current.size > 0 && current.size + bytes > maxBytes) {
      await rotate();
      current = await openCurrent();
    }
    return current;
  };
  const writeChunk = async (chunk: Buffer): Promise<void> => {
    const target = await fileFor(chunk.length);
    inFlight = { chunk, from: target.size };
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await target.handle.write(chunk, done);
      done += bytesWritten;
      target.size += bytesWritten;
      isTorn = done < chunk.length;
    }
  };
  /** How many of the waiting lines fit into one file: at least one. */
  const countFitting = (): number => {
    let bytes = 0;
    const end = waiting.findIndex((line, index) => {
      bytes += line.length;
      return index > 0 && bytes > maxBytes;
    });
    return end < 0 ? waiting.length : end;
  };
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const count = countFitting();
      const [taken, told] = [waiting.slice(0, count), lost];
      waiting = waiting.slice(count);
      const before = `${isTorn ? '\n' : ''}${told > 0 && describeLoss !== undefined ? describeLoss(told) : ''}`;
      try {
        await writeChunk(Buffer.concat([Buffer.from(before), ...taken]));
        for (const { length } of taken) waitingBytes -= length;
        lost -= told;
        isFaulty = false;
      } catch (error) {
        // The lines are written again, also those that the disk took in part.
        waiting = [...taken, ...waiting];
        await letGo().catch(() => undefined);
        return fail(error as Error);
      } finally {
        inFlight = undefined;
      }
    }
  };
  const fail = (error: Error): void => {
    if (!isFaulty) onFault(error);
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
  /** The process ends now: what still waits is written without waiting. */
  const writeRest = (): void => {
    if (inFlight === undefined && waiting.length === 0) return;
    try {
      const fd = current?.handle.fd ?? openNow(file);
      const isDone = inFlight !== undefined && fstatSync(fd).size >= inFlight.from + inFlight.chunk.length;
      writeSync(
        fd,
        Buffer.concat([...(inFlight === undefined || isDone ? [] : [inFlight.chunk]), ...waiting]),
      );
    } catch (error) {
      if (!isFaulty) onFault(error as Error);
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
      await letGo().catch((error: Error) => {
        if (!isFaulty) onFault(error);
      });
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
