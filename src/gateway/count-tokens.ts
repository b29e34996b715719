import { encodeCount, estimateTokens } from '../wire/anthropic/count-tokens.ts';
import { readRequest } from './read-request.ts';
import { sendJson } from './send-json.ts';
import type { Attempt, RunningTurn } from './turn.ts';

/** For a provider without a token-counting route on the caller's wire: our estimate, lessons included. */
export function countTokens(
  turn: RunningTurn,
  bytes: Buffer,
  marks: Readonly<Record<string, string>>,
): Attempt {
  const read = readRequest(turn.wire, bytes);
  if ('kind' in read) return { kind: 'failed', failure: read };
  return sendJson(turn, encodeCount(estimateTokens(read.request)), marks);
}
