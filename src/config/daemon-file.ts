import { readFileSync, rmSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';
import { asNumber, asObject, asString, parseJson } from '../core/json.ts';
import { callDaemon } from './call-daemon.ts';
import type { Home } from './home.ts';
import { scratchDaemonFile } from './scratch-home.ts';

/** The daemon that serves a home, for the commands that talk to it. */
export interface DaemonRecord {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
}

/**
 * The record; undefined when it is missing or unreadable. It may be stale: a killed daemon leaves its record behind. That of
 * a daemon which cannot write into the home is found while its process exists.
 */
export function readDaemonFile(home: Home): DaemonRecord | undefined {
  const own = readRecord(home.daemonFile);
  if (own !== undefined) return own;
  const scratch = scratchDaemonFile(home);
  const record = scratch === undefined ? undefined : readRecord(scratch);
  return record !== undefined && isAlive(record) ? record : undefined;
}

function readRecord(file: string): DaemonRecord | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const value = asObject(parseJson(text));
  const [pid, port] = [asNumber(value.pid), asNumber(value.port)];
  const [url, startedAt, version] = [asString(value.url), asString(value.startedAt), asString(value.version)];
  if (pid === undefined || port === undefined || url === undefined || !URL.canParse(url)) return undefined;
  return { pid, port, url, startedAt: startedAt ?? '', version: version ?? '' };
}

/** Creates the record; false when one exists already, stale or not. */
export const createDaemonFile = (home: Home, record: DaemonRecord): boolean =>
  createFileSync(home.daemonFile, render(record));

/** Removes the record that was read before (undefined: an unreadable one), but not one that replaced it since. */
export function removeDaemonFile(home: Home, seen: DaemonRecord | undefined): void {
  const found = readDaemonFile(home);
  const isSame = found?.pid === seen?.pid && found?.startedAt === seen?.startedAt;
  if (isSame) rmSync(home.daemonFile, { force: true });
}

const render = (record: DaemonRecord): string => `${JSON.stringify(record)}\n`;

const HEALTH_TIMEOUT_MS = 2_000;

/** The daemon that serves this home and answers now; the stale record of a killed daemon does not count. */
export async function findDaemon(home: Home): Promise<DaemonRecord | undefined> {
  const record = readDaemonFile(home);
  if (record === undefined) return undefined;
  try {
    const reply = await callDaemon(record, '/healthz', { timeoutMs: HEALTH_TIMEOUT_MS });
    return reply.status === 200 ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process that wrote the record still exists; otherwise another program may have its port by now. */
export function isAlive(record: DaemonRecord): boolean {
  try {
    return process.kill(record.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
