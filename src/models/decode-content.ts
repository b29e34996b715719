import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { createFailure } from '../core/failure.ts';
import { ModelError } from './model-error.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createUnzip(),
  'x-gzip': () => createUnzip(),
  deflate: () => createUnzip(),
  br: () => createBrotliDecompress(),
};

/**
 * Undoes the compression of a server that compresses although it was asked not to. Reading pulls: a slow reader
 * slows the body down, and a small body that unpacks to gigabytes is unpacked no faster than it is read.
 */
export function decodeContent(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
): AsyncIterable<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return body;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create === undefined) {
    const message =
      'The provider compressed its reply in a way that was not asked for and cannot be read here.';
    throw new ModelError(createFailure('upstream-error', message, { final: true }));
  }
  return unpack(body, create());
}

async function* unpack(body: AsyncIterable<Buffer>, decoder: Transform): AsyncGenerator<Buffer, undefined> {
  // The error reaches the reader through the iteration below; the callback only keeps it from being thrown twice.
  pipeline(Readable.from(body), decoder, (error) => error);
  try {
    for await (const chunk of decoder) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof ModelError) throw error;
    const cut = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
    throw new ModelError(
      cut
        ? createFailure('truncated', 'The compressed reply broke off before its end.')
        : createFailure('upstream-error', 'The reply is not compressed the way its headers say.'),
    );
  }
}
