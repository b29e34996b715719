import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Refusal } from './refusal.ts';

type Inflate = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;
const zstd: unknown = Reflect.get(zlib, 'zstdDecompress');

/** The whole body, decompressed. Throws a Refusal (413) as soon as it exceeds the limit. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'zstd')
    throw new Refusal(
      415,
      `Content-Encoding ${encoding.slice(0, 32)} is not supported; send the body uncompressed.`,
    );
  // Node 22.15 and later.
  if (encoding === 'zstd' && typeof zstd !== 'function')
    throw new Refusal(415, 'This version of Node has no zstd; send the body uncompressed.');
  const tooLarge = new Refusal(413, `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks, size);
  if (encoding === 'identity') return body;
  try {
    return await (promisify(zstd as typeof zlib.gunzip) as Inflate)(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge;
    throw new Refusal(400, 'The body is not zstd, although its Content-Encoding says so.');
  }
}
