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
/** As Node and undici say them. */
const OUTAGE_CODES =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|E?TIMED?OUT|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|ENET(?:UNREACH|DOWN|RESET)|EHOSTUNREACH|ABORT_ERR|UND_ERR_\w{1,40})$/;
/** Too early, too often, out of time, or broken on the other side. */
const isOutageStatus = (status: unknown): boolean =>
  typeof status === 'number' &&
  (status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600));

/** Whether something thrown tells of the network, a limit or an abort, itself or by what caused it. */
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

/** What a stage threw, as findings about the turn it had heard last. */
export function readThrown(error: unknown, turn: string | undefined, isAborted: boolean): readonly Finding[] {
  if (error instanceof StageFailure) return error.findings;
  const said = error instanceof Error ? error.message : String(error);
  const about = turn === undefined ? {} : { turn };
  const reason = said.trim().slice(0, LONGEST_REASON) || 'it threw without a word';
  const cause = isAborted || isOutageError(error) ? 'infrastructure' : 'thrown';
  return [{ cause, reason, ...about }];
}
