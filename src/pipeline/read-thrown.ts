import { asString, isObject } from '../core/json.ts';
import { StageFailure } from './stage-failure.ts';
import type { Finding } from './stage-outcome.ts';

const LONGEST_REASON = 500;
const DEEPEST_CAUSE = 4;

const OUTAGE_NAMES = new Set([
  'AbortError',
  'TimeoutError',
  'APIConnectionError',
  'APIConnectionTimeoutError',
]);
/** Error codes of Node and undici. */
const OUTAGE_CODES =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|E?TIMED?OUT|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|ENET(?:UNREACH|DOWN|RESET)|EHOSTUNREACH|ABORT_ERR|UND_ERR_\w{1,40})$/;
/** Time-outs, rate limits and server errors. */
const isOutageStatus = (status: unknown): boolean =>
  typeof status === 'number' &&
  (status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600));

/** Whether an error or its cause is about the network, a rate limit or an abort. */
function isOutageError(error: unknown, depth = 0): boolean {
  if (!isObject(error) || depth > DEEPEST_CAUSE) return false;
  return (
    OUTAGE_NAMES.has(asString(error.name) ?? '') ||
    OUTAGE_CODES.test(asString(error.code) ?? '') ||
    isOutageStatus(error.status) ||
    isOutageStatus(error.statusCode) ||
    isOutageError(error.cause, depth + 1)
  );
}

/** The error of a stage as findings about its last turn. */
export function readThrown(error: unknown, turn: string | undefined, isAborted: boolean): readonly Finding[] {
  if (error instanceof StageFailure) return error.findings;
  const said = error instanceof Error ? error.message : String(error);
  const about = turn === undefined ? {} : { turn };
  const reason = said.trim().slice(0, LONGEST_REASON) || 'it threw an error without a message';
  const cause = isAborted || isOutageError(error) ? 'infrastructure' : 'thrown';
  return [{ cause, reason, ...about }];
}
