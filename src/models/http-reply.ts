import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { createFailure, type Failure } from '../core/failure.ts';
import type { Exchange, ExchangeControl, ExchangeRequest } from '../core/upstream.ts';
import { createAbortedFailure, ModelError } from './chat-events.ts';

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One reply, pulled by its reader: at most `MOST_QUEUED` bytes and one chunk wait in memory. */
export interface HttpReply {
  readonly status: number;
  header(name: string): string | undefined;
  /** Can be read once. A transport failure is thrown as `ModelError` after the chunks that arrived before it. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the exchange now. */
  close(): void;
  /** Ends reading but keeps the connection: a short rest is read and discarded so that it can be reused. */
  release(): void;
}

const MOST_QUEUED = 256 * 1024;
const MOST_DISCARDED = 64 * 1024;
const LONGEST_DISCARD_MS = 1_000;

/** Rejects with `ModelError` when no response head arrives. */
export function openHttpReply(
  exchange: Exchange,
  request: ExchangeRequest,
  signal: AbortSignal,
): Promise<HttpReply> {
  if (signal.aborted) return Promise.reject(new ModelError(createAbortedFailure()));
  return new Promise((resolve, reject) => {
    const queue: Buffer[] = [];
    let queued = 0;
    let discarded: number | undefined;
    let paused = false;
    let over: 'end' | Failure | undefined;
    let limit: NodeJS.Timeout | undefined;
    let control: ExchangeControl | undefined;
    let wake = (): void => undefined;

    const finish = (how: 'end' | Failure): void => {
      if (over !== undefined) return;
      over = how;
      clearTimeout(limit);
      signal.removeEventListener('abort', close);
      if (how !== 'end') reject(new ModelError(how));
      wake();
    };
    const close = (): void => {
      if (over !== undefined) return;
      control?.abort();
      queue.length = 0;
      finish(createAbortedFailure());
    };
    const release = (): void => {
      if (over !== undefined || discarded !== undefined) return;
      discarded = 0;
      queue.length = 0;
      limit = setTimeout(close, LONGEST_DISCARD_MS).unref();
      if (paused) control?.resume();
      wake();
    };
    async function* read(): AsyncGenerator<Buffer, undefined> {
      while (discarded === undefined) {
        const chunk = queue.shift();
        if (chunk !== undefined) {
          queued -= chunk.length;
          if (paused && queued <= MOST_QUEUED / 2) {
            paused = false;
            control?.resume();
          }
          yield chunk;
        } else if (over === undefined) {
          await new Promise<void>((resolveWake) => {
            wake = resolveWake;
          });
        } else if (over === 'end') return;
        else throw new ModelError(over);
      }
    }

    signal.addEventListener('abort', close, { once: true });
    control = exchange(request, {
      onHead: (status, headers) => {
        resolve({ status, header: (name) => headerOf(headers, name), body: read(), close, release });
      },
      onChunk: (chunk) => {
        if (discarded !== undefined) {
          discarded += chunk.length;
          if (discarded > MOST_DISCARDED) close();
          return true;
        }
        queue.push(chunk);
        queued += chunk.length;
        // Not reset to false here: a chunk that was already in flight does not end the pause.
        if (queued >= MOST_QUEUED) paused = true;
        wake();
        return !paused;
      },
      onEnd: () => finish('end'),
      onFailure: finish,
    });
    // The transport may have finished before it returned: then the listener must go.
    if (over !== undefined) signal.removeEventListener('abort', close);
  });
}

function headerOf(headers: ReplyHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createUnzip(),
  'x-gzip': () => createUnzip(),
  deflate: () => createUnzip(),
  br: () => createBrotliDecompress(),
};

/**
 * Decompresses the body of a server that compresses although it was asked not to. The reader pulls: a slow reader slows
 * the body down, and a small body that expands to gigabytes is expanded no faster than it is read.
 */
export function decompressBody(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
): AsyncIterable<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return body;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create === undefined) {
    const message =
      'The provider compressed its reply although it was asked not to, in an encoding that Instar does not support.';
    throw new ModelError(createFailure('upstream-error', message, { final: true }));
  }
  return unpack(body, create());
}

async function* unpack(body: AsyncIterable<Buffer>, decoder: Transform): AsyncGenerator<Buffer, undefined> {
  // The iteration below throws the error; the callback only prevents a second, unhandled one.
  pipeline(Readable.from(body), decoder, (error) => error);
  try {
    for await (const chunk of decoder) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof ModelError) throw error;
    const cut = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
    throw new ModelError(
      cut
        ? createFailure('truncated', 'The compressed reply broke off before its end.')
        : createFailure('upstream-error', 'The reply is not in the content-encoding that its headers state.'),
    );
  }
}
