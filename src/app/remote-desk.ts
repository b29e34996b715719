import type { DaemonRecord } from '../config/daemon-file.ts';
import type { Desk } from '../core/desk.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';

/** The daemon said no; its words. */
export class DeskError extends Error {
  override readonly name = 'DeskError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const LONGEST_MS = 120_000;

/** The desk of a running daemon, over its API: the store has one writer, and that is not us. */
export function createRemoteDesk(daemon: DaemonRecord, key: string | undefined): Desk {
  const ask = async (method: string, path: string, body?: JsonObject): Promise<Json> => {
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
    const message =
      asString(asObject(asObject(value).error).message) ?? `the daemon answered ${reply.status}`;
    throw new DeskError(reply.status, message);
  };
  const find = async (path: string): Promise<JsonObject | undefined> => {
    try {
      return asObject(await ask('GET', path));
    } catch (error) {
      if (error instanceof DeskError && error.status === 404) return undefined;
      throw error;
    }
  };
  const place = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;
  return {
    sessions: async (query) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) search.set(name, String(value));
      return asArray(await ask('GET', `/api/sessions?${search}`)).map(asObject);
    },
    session: (id) => find(place(id)),
    trajectory: (id) => find(`${place(id)}/trajectory`),
    erase: async (id) => asNumber(asObject(await ask('DELETE', place(id))).erased) ?? 0,
    feedback: async (body) => asObject(await ask('POST', '/v1/feedback', body)),
    backup: async (file) => void (await ask('POST', '/api/backup', { file })),
  };
}
