import { readFileSync, rmSync } from 'node:fs';
import { asNumber, asObject, asString, parseJson } from '../core/json.ts';
import type { Home } from './home.ts';
import { createPrivateFile, replacePrivateFile } from './private-file.ts';

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
  createPrivateFile(home.daemonFile, render(record));

export const replaceDaemonFile = (home: Home, record: DaemonRecord): void =>
  replacePrivateFile(home.daemonFile, render(record));

/** Takes the record away if it is this daemon's own. */
export function removeDaemonFile(home: Home, own: DaemonRecord): void {
  const found = readDaemonFile(home);
  if (found?.pid === own.pid && found.startedAt === own.startedAt) rmSync(home.daemonFile, { force: true });
}

const render = (record: DaemonRecord): string => `${JSON.stringify(record)}\n`;
