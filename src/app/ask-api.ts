import type { DaemonRecord } from '../config/daemon-file.ts';
import { asObject, asString, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { DeskError } from './desk-error.ts';

const LONGEST_MS = 120_000;

/** One request to a daemon's API. Rejects with `DeskError` for what it refuses. */
export async function askApi(
  daemon: DaemonRecord,
  key: string | undefined,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<Json> {
  const reply = await fetch(new URL(path, daemon.url), {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(LONGEST_MS),
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const value = parseJson(await reply.text()) ?? null;
  if (reply.status === 200) return value;
  const message = asString(asObject(asObject(value).error).message) ?? `the daemon answered ${reply.status}`;
  throw new DeskError(reply.status, message);
}
