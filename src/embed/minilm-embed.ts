import { Worker } from 'node:worker_threads';
import { createLruMap } from '../base/lru-map.ts';
import { terminateWorker } from '../base/sqlite-gate.ts';
import { workerModule } from '../base/worker-thread.ts';
import { compact } from '../core/json.ts';
import type { EmbeddingModel } from '../core/recall.ts';

/** A message to the model's thread: one text at a time, so that the next one is chosen as late as possible. */
export interface EmbedRequest {
  readonly id: number;
  readonly text: string;
  readonly most?: number;
}

export type EmbedReply =
  | { readonly type: 'ready' }
  /** The model cannot be loaded. */
  | { readonly type: 'broken'; readonly why: string }
  | ({ readonly type: 'vector'; readonly id: number } & Reading)
  | { readonly type: 'failed'; readonly id: number; readonly why: string };

/** A text's vector, and how many of its word pieces were read for it. */
interface Reading {
  readonly vector: Float32Array;
  readonly pieces: number;
}

/** One call of `embed` and its vectors so far. */
interface Request {
  readonly texts: readonly string[];
  readonly most: number | undefined;
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

/** The name of the sentence model, as the record has it. */
export const MINILM = 'minilm-l6-v2/384';

/** What a text is about stands in its beginning, and every piece costs time. */
export const MOST_PIECES = 128;
/** So many word pieces rarely have more characters; the rest is not sent to the thread. */
const MOST_CHARACTERS = 1200;
/** A message is searched for when it arrives, compared when lessons are looked for again, and indexed when its session ends. */
const MOST_KEPT = 1_000;

/** The calls that wait, and the text that the thread reads now. */
function createWaitingCalls() {
  const waiting: Request[] = [];
  const recent = createKeptReadings();
  let current: Request | undefined;

  const settle = (request: Request, why?: string): void => {
    waiting.splice(waiting.indexOf(request), 1);
    if (why === undefined) request.resolve(request.vectors);
    else request.reject(new Error(why));
  };
  return {
    isEmpty: () => waiting.length === 0,
    isReading: () => current !== undefined,
    add: (request: Request): void => void waiting.push(request),
    failAll: (error: Error): void => {
      current = undefined;
      for (const request of waiting.splice(0)) request.reject(error);
    },
    /** The answer to the text that is read now. */
    take: (answer: Exclude<EmbedReply, { readonly type: 'ready' | 'broken' }>): void => {
      const request = current;
      current = undefined;
      if (request === undefined) return;
      if (answer.type === 'vector') {
        recent.add(request.texts[request.vectors.length] ?? '', request.most, answer);
        request.vectors.push(answer.vector);
        if (left(request) === 0) settle(request);
      } else settle(request, answer.why);
    },
    /** The text of the waiting call with the fewest left; what is kept needs no thread. */
    next: (): Pick<EmbedRequest, 'text' | 'most'> | undefined => {
      while (waiting.length > 0) {
        const request = waiting.reduce((least, one) => (left(one) < left(least) ? one : least));
        const text = request.texts[request.vectors.length] ?? '';
        const vector = recent.find(text, request.most);
        if (vector === undefined) {
          current = request;
          return compact({ text, most: request.most });
        }
        request.vectors.push(vector);
        if (left(request) === 0) settle(request);
      }
      return undefined;
    },
  };
}

/**
 * all-MiniLM-L6-v2 in its own thread, which the first text starts. Texts are sent one at a time, and the waiting call with
 * the fewest texts left is served first: a query waits for one text at most, never for ten thousand lessons. The thread
 * keeps the process alive only while a call waits. A thread that dies is started again by the next text; one that could not
 * load its model is not. The vectors of the last texts are kept.
 */
export function createMiniLmEmbed(
  thread: URL = workerModule('./minilm-thread.ts', import.meta.url),
): EmbeddingModel {
  const calls = createWaitingCalls();
  let worker: Worker | undefined;
  let isReady = false;
  /** Set when no vector will ever be computed again. */
  let end: Error | undefined;
  let lastId = 0;

  const receive = (answer: EmbedReply): void => {
    if (answer.type === 'ready') isReady = true;
    else if (answer.type === 'broken') {
      end = new Error(answer.why);
      calls.failAll(end);
    } else if (answer.id === lastId) calls.take(answer);
    askNext();
  };

  const open = (): Worker => {
    const opened = new Worker(thread);
    let why: Error | undefined;
    opened.on('message', receive);
    opened.on('error', (error) => {
      why = error instanceof Error ? error : new Error(String(error));
    });
    opened.on('exit', (code) => {
      if (worker !== opened) return;
      const error = why ?? new Error(`the thread of the sentence model ended with code ${code}`);
      if (!isReady) end ??= error;
      worker = undefined;
      isReady = false;
      calls.failAll(error);
    });
    return opened;
  };

  const askNext = (): void => {
    if (calls.isReading()) return;
    const next = isReady ? calls.next() : undefined;
    if (calls.isEmpty()) {
      worker?.unref();
      return;
    }
    worker ??= open();
    worker.ref();
    if (next !== undefined) worker.postMessage({ id: ++lastId, ...next } satisfies EmbedRequest);
  };

  return {
    id: MINILM,
    dimensions: 384,
    isReady: () => isReady,
    embed: (texts, most) =>
      new Promise((resolve, reject) => {
        if (end !== undefined) return reject(end);
        if (texts.length === 0) return resolve([]);
        const cut = texts.map((text) => text.slice(0, MOST_CHARACTERS));
        calls.add({ texts: cut, most, vectors: [], resolve, reject });
        askNext();
      }),
    close: async () => {
      end = new Error('the sentence model is closed');
      const closing = worker;
      worker = undefined;
      calls.failAll(end);
      if (closing !== undefined) await terminateWorker(closing);
    },
  };
}

/** The vectors of the last texts: the same text gives the same vector, as far as as many of its pieces are read. */
function createKeptReadings() {
  const readings = createLruMap<string, Reading & { readonly most: number | undefined }>(MOST_KEPT);
  const isWhole = ({ pieces, most }: { readonly pieces: number; readonly most: number | undefined }) =>
    pieces < (most ?? MOST_PIECES);
  return {
    add: (text: string, most: number | undefined, { vector, pieces }: Reading): void =>
      readings.set(text, { vector, pieces, most }),
    find: (text: string, most: number | undefined): Float32Array | undefined => {
      const reading = readings.get(text);
      const isSame =
        reading !== undefined &&
        (reading.most === most || (isWhole(reading) && reading.pieces <= (most ?? MOST_PIECES)));
      return isSame ? reading.vector : undefined;
    },
  };
}

const left = (request: Request): number => request.texts.length - request.vectors.length;
