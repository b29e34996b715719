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
 * Decompresses the body of a server that compresses although it was asked not to. The reader pulls: a slow reader slows
 * the body down, and a small body that expands to gigabytes is expanded no faster than it is read.
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
