import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { peekInto } from '../../src/record/store/sql-connection.ts';

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
