import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openSql } from '../../src/record/store/sql-connection.ts';

export const HOMES = path.join(import.meta.dirname, 'homes');
/** Homes that states of 0.1.0 wrote: five sessions about orders, four of them rated bad, and one of three turns; from format 2 on with a lesson. */
export const OLD = [
  { name: 'format-1', format: 1, facts: 20, lessons: [] },
  { name: 'format-2', format: 2, facts: 32, lessons: ['iso-dates-shipping-reports'] },
  { name: 'format-3', format: 3, facts: 32, lessons: ['iso-dates-shipping-reports'] },
  { name: 'format-4', format: 4, facts: 32, lessons: ['iso-dates-shipping-reports'] },
] as const;

const folders: string[] = [];
export const removeOldHomes = (): void => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
};

/** A copy of an old home, with the address of a provider of this test. */
export function openOldHome(name: string, port = 1): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-old-'));
  folders.push(folder);
  const home = path.join(folder, 'home');
  cpSync(path.join(HOMES, name), home, { recursive: true });
  chmodSync(home, 0o700);
  const packed = path.join(home, 'instar.sqlite.gz');
  writeFileSync(path.join(home, 'instar.sqlite'), gunzipSync(readFileSync(packed)), { mode: 0o600 });
  rmSync(packed);
  const config = path.join(home, 'config.json');
  const text = readFileSync(config, 'utf8').replace(':8018', `:${port}`);
  // Their sessions are of 2026 whenever this runs: none is erased for its age.
  writeFileSync(config, JSON.stringify({ ...JSON.parse(text), store: { keepDays: 0 } }), { mode: 0o600 });
  return home;
}

/** An empty folder that is removed with the homes. */
export function emptyFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-old-'));
  folders.push(folder);
  return folder;
}

export const storeOf = (home: string): string => path.join(home, 'instar.sqlite');

/** Every file where copies of older formats are. */
export function backupsOf(home: string): readonly string[] {
  const folder = path.join(home, 'snapshots/before-upgrade');
  return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
}

/** What a record of any format says, as text. */
export function factsOf(file: string): readonly string[] {
  const sql = openSql(file, { busyMs: 2000 });
  try {
    return sql
      .all<{ seq: number; body: string }>('select seq, body from facts order by seq')
      .map(({ seq, body }) => `${seq} ${body}`);
  } finally {
    sql.close();
  }
}
