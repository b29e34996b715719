import { encodeCount, estimateTokens } from '../wire/anthropic/count-tokens.ts';
import { readRequest } from './answer.ts';
import type { Attempt, Turn } from './turn.ts';

/** For a provider that cannot count on the caller's wire: our own estimate, lessons included. */
export async function countTokens(
  turn: Turn,
  body: Buffer,
  marks: Readonly<Record<string, string>>,
): Promise<Attempt> {
  const request = readRequest(turn, body);
  if ('kind' in request) return { kind: 'failed', failure: request };
  const bytes = Buffer.from(JSON.stringify(encodeCount(estimateTokens(request))));
  turn.response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...marks,
  });
  turn.response.end(bytes);
  return { kind: 'sent', end: 'complete', status: 200 };
}
