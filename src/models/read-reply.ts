import type { ChatEvent } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { isObject, parseJson } from '../core/json.ts';
import { parseRetryAfter } from '../core/retry.ts';
import type { Wire } from '../core/wire.ts';
import { excerpt } from '../wire/excerpt.ts';
import { createSseDecoder } from '../wire/sse.ts';
import { decodeContent } from './decode-content.ts';
import { ModelError } from './model-error.ts';
import type { Reply } from './open-reply.ts';

const MOST_ERROR_BYTES = 1024 * 1024;
const MOST_WHOLE_BYTES = 64 * 1024 * 1024;

/** A provider's reply as events. May throw `ModelError` or end early: `createChatEvents` adds the terminal event. */
export async function* readReply(
  wire: Wire,
  reply: Reply,
  nowMs: number,
): AsyncGenerator<ChatEvent, undefined> {
  if (reply.status >= 400) {
    yield { type: 'failure', failure: await readFailure(wire, reply, nowMs) };
    return;
  }
  if (reply.status >= 300) throw new ModelError(redirectFailure(reply));
  const body = decodeContent(reply.body, reply.header('content-encoding'));
  const type = reply.header('content-type')?.toLowerCase() ?? '';
  if (type.startsWith('text/event-stream')) yield* readStream(wire, body);
  else yield* await readWhole(wire, body, type);
}

async function* readStream(wire: Wire, body: AsyncIterable<Buffer>): AsyncGenerator<ChatEvent, undefined> {
  const sse = createSseDecoder();
  const decoder = wire.createStreamDecoder();
  for await (const chunk of body) {
    for (const event of sse.push(chunk)) yield* decoder.decode(event);
    if (sse.overflow)
      throw new ModelError(createFailure('upstream-error', 'One event of the reply is too large.'));
  }
  yield* decoder.end();
}

async function readWhole(
  wire: Wire,
  body: AsyncIterable<Buffer>,
  type: string,
): Promise<readonly ChatEvent[]> {
  const { text, cut } = await readText(body, MOST_WHOLE_BYTES);
  if (cut) throw new ModelError(createFailure('upstream-error', 'The reply is larger than 64 MiB.'));
  // Some local servers send no content-type.
  const value = type === '' || type.includes('json') ? parseJson(text) : undefined;
  if (isObject(value)) return wire.decodeReply(value);
  const shown = excerpt(text);
  const message = `The provider answered with ${type === '' ? 'no content-type' : excerpt(type)} instead of a reply`;
  throw new ModelError(
    createFailure('upstream-error', shown === '' ? `${message}.` : `${message}: ${shown}`),
  );
}

async function readFailure(wire: Wire, reply: Reply, nowMs: number): Promise<Failure> {
  let text = '';
  try {
    const body = decodeContent(reply.body, reply.header('content-encoding'));
    text = (await readText(body, MOST_ERROR_BYTES)).text;
  } catch (error) {
    // The status already reports the failure; only an abort by the caller takes precedence.
    if (!(error instanceof ModelError) || error.failure.kind === 'aborted') throw error;
  }
  const failure = wire.decodeFailure(reply.status, text);
  const retryAfterMs = readRetryAfter(reply, nowMs);
  return {
    ...failure,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(reply.header('x-should-retry') === 'false' ? { final: true } : {}),
  };
}

function readRetryAfter(reply: Reply, nowMs: number): number | undefined {
  const precise = reply.header('retry-after-ms')?.trim() ?? '';
  if (/^\d{1,15}(\.\d{1,15})?$/.test(precise)) return Math.round(Number(precise));
  return parseRetryAfter(reply.header('retry-after'), nowMs);
}

function redirectFailure(reply: Reply): Failure {
  const location = reply.header('location') ?? '';
  const where = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  const message =
    `The provider redirects (${reply.status})${where}. Instar does not follow redirects, so that a key never leaves ` +
    "its origin. Set the provider's baseUrl to the final address.";
  return createFailure('upstream-error', message, { final: true });
}

async function readText(body: AsyncIterable<Buffer>, most: number): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return { text: Buffer.concat(chunks).subarray(0, most).toString('utf8'), cut: size > most };
}
