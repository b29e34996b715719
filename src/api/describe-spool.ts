import { asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import type { SpoolState } from '../core/store.ts';
import { localTime, plural } from '../text/phrases.ts';

/** What waits in the home for a database, as `status` tells it. Undefined when nothing does. */
export function readSpoolState(value: unknown): SpoolState | undefined {
  const { reason, isAway, since, turns, bytes, mostBytes } = asObject(value as JsonObject | undefined);
  const at = asNumber(since);
  if (at === undefined) return undefined;
  return {
    reason: asString(reason),
    isAway: isAway === true,
    since: at,
    turns: asNumber(turns) ?? 0,
    bytes: asNumber(bytes) ?? 0,
    mostBytes: asNumber(mostBytes) ?? 0,
  };
}

/** A sentence: what is wrong since when, how much waits, and what happens next. */
export function describeSpool({ reason, since, turns, bytes, mostBytes }: SpoolState): string {
  const [waits, is] = turns === 1 ? ['waits', 'is'] : ['wait', 'are'];
  const size = `${plural(turns, 'turn')} (${inMegabytes(bytes)} of ${inMegabytes(mostBytes)} MB)`;
  return reason === undefined
    ? `the database is back; ${size} that it missed since ${localTime(since)} ${is} being written to it`
    : `the database is away since ${localTime(since)}: ${reason}; ${size} ${waits} in this home and ${is} written to it when it is back; feedback, approvals and erasures are refused until then`;
}

const inMegabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(bytes < 10_485_760 ? 1 : 0);
