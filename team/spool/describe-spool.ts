import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asNumber, asObject, asString, type JsonObject } from '../../src/core/json.ts';
import type { SpoolState } from '../../src/core/store.ts';
import { peekInto } from '../../src/record/store/sql-connection.ts';
import { localTime, plural } from '../../src/text/phrases.ts';

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

/** What a spool holds, without opening it for writing. Throws `StoreError` when it cannot be read. */
export function inspectSpool(file: string): {
  readonly turns: number;
  readonly bytes: number;
  readonly since: number | undefined;
  /** Spools that could not be read and were put beside it. */
  readonly damaged: readonly string[];
} {
  const dir = dirname(file);
  const damaged = existsSync(dir)
    ? readdirSync(dir)
        .filter((name) => name.startsWith(`${basename(file)}.damaged-`))
        .map((name) => join(dir, name))
    : [];
  if (!existsSync(file)) return { turns: 0, bytes: 0, since: undefined, damaged };
  const [row] = peekInto(file, { busyMs: 2_000 }, (rows) =>
    rows(
      ['turns', 'bytes', 'since'],
      "select coalesce(sum(part = 'end'), 0) as turns, coalesce(sum(length(body)), 0) as bytes, min(at) as since from rows",
    ),
  );
  const [turns, bytes, since] = row ?? [];
  return {
    turns: Number(turns ?? 0),
    bytes: Number(bytes ?? 0),
    since: since === null || since === undefined ? undefined : Number(since),
    damaged,
  };
}
