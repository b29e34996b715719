import { readFileSync, rmSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';
import { asNumber, asObject, asString, parseJson } from '../core/json.ts';
import type { Home } from './home.ts';

/** Who serves this home, for the commands that talk to it. */
export interface DaemonRecord {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
}

/** The record, or undefined when there is none that can be read. It may be stale: a killed daemon leaves its own. */
export function readDaemonFile(home: Home): DaemonRecord | undefined {
  let text: string;
  try {
    text = readFileSync(home.daemonFile, 'utf8');
  } catch {
    return undefined;
  }
  const value = asObject(parseJson(text));
  const [pid, port] = [asNumber(value.pid), asNumber(value.port)];
  const [url, startedAt, version] = [asString(value.url), asString(value.startedAt), asString(value.version)];
  if (pid === undefined || port === undefined || url === undefined || !URL.canParse(url)) return undefined;
  return { pid, port, url, startedAt: startedAt ?? '', version: version ?? '' };
}

/** Makes the record; false when there already is one, stale or not. */
export const createDaemonFile = (home: Home, record: DaemonRecord): boolean =>
  createFileSync(home.daemonFile, render(record));

/** Takes away the record that was seen (undefined: one that cannot be read), but not one that replaced it since. */
export function removeDaemonFile(home: Home, seen: DaemonRecord | undefined): void {
  const found = readDaemonFile(home);
  const isSame = found?.pid === seen?.pid && found?.startedAt === seen?.startedAt;
  if (isSame) rmSync(home.daemonFile, { force: true });
}

const render = (record: DaemonRecord): string => `${JSON.stringify(record)}\n`;
