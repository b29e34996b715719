import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { createFailure, type Failure } from '../core/failure.ts';

const EMPTY = Buffer.alloc(0);

/** A request's body as received and, if it can be decompressed, as text. */
export interface ReceivedBody {
  readonly raw: Buffer;
  /** Undefined when this Node cannot decompress it: it is then passed on unchanged, without lessons. */
  readonly body: Buffer | undefined;
}

/** A body over the size limit, or over the memory limit, is refused as soon as that is known. */
export function receiveBody(
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => boolean,
): Promise<ReceivedBody | Failure> {
  return new Promise((resolve) => {
    collect(request, maxBytes, hold, (raw) => {
      const encoding = request.headers['content-encoding'];
      if (!Buffer.isBuffer(raw)) resolve(raw);
      else resolve(encoding === undefined ? { raw, body: raw } : decode(raw, encoding, maxBytes));
    });
  });
}

async function decode(raw: Buffer, stated: string, maxBytes: number): Promise<ReceivedBody | Failure> {
  const encoding = stated.trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return { raw, body: raw };
  const inflate = INFLATE.get(encoding);
  if (inflate === undefined) return { raw, body: undefined };
  try {
    return { raw, body: await inflate(raw, { maxOutputLength: maxBytes }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes);
    return createFailure('bad-request', `The body is not valid ${encoding}, as its content-encoding says.`);
  }
}

/** Only the first call of `done` has an effect. */
function collect(
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => boolean,
  done: (raw: Buffer | Failure) => void,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) {
    done(tooLarge(maxBytes));
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const isOver = size > maxBytes;
    if (isOver || !hold(chunk.length)) {
      request.removeAllListeners('data');
      request.pause();
      done(isOver ? tooLarge(maxBytes) : BUSY_FAILURE);
    } else chunks.push(chunk);
  });
  request.on('end', () => done(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, size)));
  const onDisconnect = () => {
    if (!request.readableEnded)
      done(createFailure('aborted', 'The client disconnected before its request was complete.'));
  };
  request.on('error', onDisconnect);
  request.on('close', onDisconnect);
}

export const BUSY_FAILURE: Failure = createFailure(
  'overloaded',
  'Instar is at its limit of concurrent requests. Try again in a second.',
  {
    retryAfterMs: 1000,
  },
);

const tooLarge = (maxBytes: number): Failure =>
  createFailure(
    'too-large',
    `The request is larger than ${Math.floor(maxBytes / 1048576)} MB (gateway.maxBodyMb).`,
  );

type Inflate = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
const zstd: unknown = Reflect.get(zlib, 'zstdDecompress');
const INFLATE: ReadonlyMap<string, Inflate> = new Map([
  ['gzip', promisify(zlib.gunzip) as Inflate],
  ['x-gzip', promisify(zlib.gunzip) as Inflate],
  ['deflate', promisify(zlib.inflate) as Inflate],
  ['br', promisify(zlib.brotliDecompress) as Inflate],
  // Node 22.15 and later.
  ...(typeof zstd === 'function'
    ? [['zstd', promisify(zstd as typeof zlib.gunzip) as Inflate] as const]
    : []),
]);
