import { open, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { terminateWorker } from '../../base/sqlite-gate.ts';
import { workerModule } from '../../base/worker-thread.ts';
import { systemZone } from '../windows/zone.ts';
import { type BusyAnswer, type BusyFailure, type BusyTimes, busyFailure } from './busy-times.ts';
import { failureOfStatus, requestText } from './http-text.ts';
import type { IcsThreadAnswer } from './ics-thread.ts';
import type { IcsQuestion } from './read-ics.ts';

interface IcsSetting {
  /** A secret address (https, webcal) or the path of a file. */
  readonly place: string;
  readonly fetch: typeof fetch;
  readonly owners?: readonly string[];
  readonly zone?: () => string;
  readonly expand?: ExpandIcs;
  readonly timeoutMs?: number;
}

interface Copy {
  readonly text: string;
  /** Headers of a conditional request. */
  readonly ifChanged: Readonly<Record<string, string>>;
}

const MAX_BYTES = 5 * 1024 * 1024;
const IS_ADDRESS = /^(https?|webcals?):/i;

/** A published calendar: the whole file is fetched, unless it is unchanged, and expanded here. */
export function createIcsBusyTimes(setting: IcsSetting): BusyTimes {
  const { place, owners = [], zone = systemZone, expand = expandInThread } = setting;
  let copy: Copy | undefined;

  const fetchCopy = async (signal: AbortSignal): Promise<Copy | BusyFailure> => {
    const answer = await requestText({
      fetch: setting.fetch,
      url: place,
      method: 'GET',
      headers: { accept: 'text/calendar, */*;q=0.1', ...copy?.ifChanged },
      timeoutMs: setting.timeoutMs ?? 10_000,
      maxBytes: MAX_BYTES,
      signal,
    });
    if (!answer.ok) return answer;
    if (answer.status === 304 && copy !== undefined) return copy;
    if (answer.status !== 200) return failureOfStatus(answer.status, answer.headers);
    const etag = answer.headers.get('etag');
    const modified = answer.headers.get('last-modified');
    return {
      text: answer.text,
      ifChanged: {
        ...(etag === null ? {} : { 'if-none-match': etag }),
        ...(etag !== null || modified === null ? {} : { 'if-modified-since': modified }),
      },
    };
  };

  return {
    name: 'ics',
    async busy(from, to, signal) {
      const got = IS_ADDRESS.test(place) ? await fetchCopy(signal) : await readFileCopy(place);
      if ('ok' in got) return got;
      // A login page also has a status of 200.
      if (!got.text.slice(0, 1000).trimStart().toUpperCase().startsWith('BEGIN:VCALENDAR')) {
        return busyFailure('the reply is not a calendar');
      }
      const addresses = owners.map((owner) => owner.toLowerCase());
      const answer = await expand({ texts: [got.text], from, to, zone: zone(), owners: addresses }, signal);
      // Only a readable copy is used for conditional requests.
      if (answer.ok) copy = got;
      return answer;
    },
  };
}

async function readFileCopy(path: string): Promise<Copy | BusyFailure> {
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    // Before opening it: opening a named pipe would wait for a writer.
    const about = await stat(path);
    if (!about.isFile()) return busyFailure('the calendar is not a file', true);
    if (about.size > MAX_BYTES) return busyFailure(`the calendar is larger than ${MAX_BYTES} bytes`);
    file = await open(path, 'r');
    const buffer = Buffer.alloc(about.size);
    const { bytesRead } = await file.read(buffer, 0, about.size, 0);
    return { text: buffer.toString('utf8', 0, bytesRead), ifChanged: {} };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return busyFailure(isMissing ? 'the calendar file does not exist' : 'the calendar file cannot be read');
  } finally {
    await file?.close();
  }
}

/** Expands the busy times of calendar files. Never rejects; stops at the signal. */
export type ExpandIcs = (question: IcsQuestion, signal: AbortSignal) => Promise<BusyAnswer>;

const MAX_MS = 10_000;
const MAX_MEMORY_MB = 256;

/** In a worker thread for one calendar: expanding megabytes of foreign rules must not block a stream. */
export const expandInThread: ExpandIcs = (question, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(busyFailure('stopped'));
    let worker: Worker;
    try {
      worker = new Worker(workerModule('./ics-thread.ts', import.meta.url), {
        workerData: question,
        resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
      });
    } catch {
      return resolve(busyFailure('the calendar could not be read'));
    }
    const finish = (answer: BusyAnswer): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', abort);
      resolve(answer);
      void terminateWorker(worker);
    };
    const abort = (): void => finish(busyFailure('stopped'));
    const limit = setTimeout(() => finish(busyFailure('the calendar took too long to read')), MAX_MS);
    signal.addEventListener('abort', abort, { once: true });
    worker.on('message', (answer: IcsThreadAnswer) =>
      finish(
        answer === 'unreadable'
          ? busyFailure('the calendar cannot be parsed')
          : { ok: true, spans: answer.spans },
      ),
    );
    worker.on('error', () => finish(busyFailure('the calendar could not be read')));
    worker.on('exit', () => finish(busyFailure('the calendar could not be read')));
  });
