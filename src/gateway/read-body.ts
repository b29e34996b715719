import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { createFailure, type FailedResult, type Failure, refusal } from '../core/failure.ts';
import type { AdmissionSlot } from './admission.ts';

const EMPTY = Buffer.alloc(0);

/** A request's body as received and, if it can be decompressed, as text. */
export interface ReceivedBody {
  readonly ok: true;
  readonly raw: Buffer;
  /** Undefined when this Node cannot decompress it: it is then passed on unchanged, without lessons. */
  readonly body: Buffer | undefined;
}

type BodyLimits = Pick<AdmissionSlot, 'hold' | 'watch'>;

/** A body over the size limit, over a memory limit or under the minimum rate is refused as soon as that is known. */
export function receiveBody(
  request: IncomingMessage,
  maxBytes: number,
  slot: BodyLimits,
): Promise<ReceivedBody | FailedResult> {
  return new Promise((resolve) => {
    collect(request, maxBytes, slot, (raw) => {
      const encoding = request.headers['content-encoding'];
      if (!Buffer.isBuffer(raw)) resolve(refusal(raw));
      else if (encoding === undefined) resolve({ ok: true, raw, body: raw });
      else resolve(decode(raw, encoding, maxBytes, slot));
    });
  });
}

async function decode(
  raw: Buffer,
  stated: string,
  maxBytes: number,
  { hold }: BodyLimits,
): Promise<ReceivedBody | FailedResult> {
  const encoding = stated.trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return { ok: true, raw, body: raw };
  const inflate = INFLATE.get(encoding);
  if (inflate === undefined) return { ok: true, raw, body: undefined };
  try {
    const body = await inflate(raw, { maxOutputLength: maxBytes });
    return hold(body.length) ? { ok: true, raw, body } : refusal(BUSY_FAILURE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return refusal(tooLarge(maxBytes));
    return refusal(
      createFailure('bad-request', `The body is not valid ${encoding}, as its content-encoding says.`),
    );
  }
}

/** Undefined where this Node cannot decompress them, and for more than `most` bytes. Does not reject. */
export async function inflateBytes(bytes: Buffer, stated: string, most: number): Promise<Buffer | undefined> {
  const encoding = stated.trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return bytes;
  return INFLATE.get(encoding)?.(bytes, { maxOutputLength: most }).catch(() => undefined);
}

function collect(
  request: IncomingMessage,
  maxBytes: number,
  { hold, watch }: BodyLimits,
  done: (raw: Buffer | Failure) => void,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) {
    done(tooLarge(maxBytes));
    return;
  }
  let chunks: Buffer[] = [];
  let size = 0;
  /** The place of a large body: its chunks are copied as they arrive, not all at once at its end. */
  let whole: Buffer | undefined;
  /** The last chunks that are small: each is an object of its own, which costs more than the bytes in it. */
  let small = 0;
  /** Undefined when it was told. The request's listeners live as long as its reply: they must not hold what they told. */
  let waiting: typeof done | undefined = done;
  const finish = (raw: Buffer | Failure): void => {
    const tell = waiting;
    if (tell === undefined) return;
    waiting = undefined;
    progress.end();
    chunks = [];
    whole = undefined;
    tell(raw);
  };
  const refuse = (failure: Failure): void => {
    request.removeAllListeners('data');
    request.pause();
    finish(failure);
  };
  const progress = watch(() => refuse(TOO_SLOW));
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    progress.received(chunk.length);
    if (size > maxBytes) return refuse(tooLarge(maxBytes));
    if (!hold(chunk.length)) return refuse(BUSY_FAILURE);
    if (whole !== undefined) {
      whole.set(chunk, size - chunk.length);
      return;
    }
    chunks.push(chunk);
    if (size >= LARGE_BODY && declared >= size) {
      whole = Buffer.allocUnsafeSlow(declared);
      Buffer.concat(chunks, size).copy(whole);
      chunks = [];
    }
    small = chunk.length < SMALL_CHUNK ? small + 1 : 0;
    if (small < MOST_SMALL) return;
    chunks.push(Buffer.concat(chunks.splice(-small)));
    small = 0;
  });
  request.on('end', () => {
    if (whole !== undefined) finish(whole.subarray(0, size));
    else finish(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, size));
  });
  const onDisconnect = () => {
    if (!request.readableEnded)
      finish(createFailure('aborted', 'The client disconnected before its request was complete.'));
  };
  request.on('error', onDisconnect);
  request.on('close', onDisconnect);
}

const LARGE_BODY = 1024 * 1024;
const SMALL_CHUNK = 1024;
const MOST_SMALL = 256;

const TOO_SLOW: Failure = createFailure(
  'timeout',
  'The request body arrived too slowly, so the connection was closed. Send the request again.',
  { status: 408 },
);

export const BUSY_FAILURE: Failure = createFailure(
  'overloaded',
  'Instar is at its limit of concurrent requests. Try again in a second.',
  {
    retryAfterMs: 1000,
  },
);

const tooLarge = (maxBytes: number): Failure =>
  createFailure('too-large', `The request is larger than ${Math.floor(maxBytes / 1048576)} MB.`);

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
