import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import type { Clock } from '../../core/clock.ts';
import { asObject, asString, compact, type JsonObject, parseJson } from '../../core/json.ts';
import { Refusal } from './refusal.ts';

/** A client's session. It lasts as long as the client sends requests or heartbeats. */
export interface Session {
  readonly id: string;
  readonly metadata: JsonObject | undefined;
}

export interface Sessions {
  create(metadata: JsonObject | undefined): Promise<Session>;
  /** Records a request of the client. Throws a Refusal: 410 for an ended session, 404 for an unknown one. */
  touch(id: string): Session;
  list(): readonly Session[];
  /** Sessions without requests for too long. */
  expired(): readonly Session[];
  end(session: Session): Promise<void>;
}

const MAX_ENDED = 1024;

export async function openSessions(folder: string, clock: Clock, timeoutMs: number): Promise<Sessions> {
  const sessions = new Map<string, { readonly session: Session; lastSeen: number }>();
  const ended = new Set<string>();
  const fileOf = (id: string): string => path.join(folder, `${id}.json`);

  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue;
    const card = asObject(parseJson(await readFile(path.join(folder, name), 'utf8')));
    const id = asString(card.id);
    // No client could send requests while the server was down: the time-out starts anew.
    if (id !== undefined) {
      const metadata = card.metadata === undefined ? undefined : asObject(card.metadata);
      sessions.set(id, { session: { id, metadata }, lastSeen: clock.monotonic() });
    }
  }

  return {
    create: async (metadata) => {
      const session = { id: `s-${randomUUID()}`, metadata };
      await replaceFile(fileOf(session.id), JSON.stringify(compact(session)));
      sessions.set(session.id, { session, lastSeen: clock.monotonic() });
      return session;
    },
    touch: (id) => {
      const known = sessions.get(id);
      if (known === undefined) {
        throw ended.has(id)
          ? new Refusal(410, `Session ${id} has ended.`)
          : new Refusal(404, `Session ${id.slice(0, 100)} does not exist.`);
      }
      known.lastSeen = clock.monotonic();
      return known.session;
    },
    list: () => [...sessions.values()].map(({ session }) => session),
    expired: () => {
      const since = clock.monotonic() - timeoutMs;
      return [...sessions.values()].filter(({ lastSeen }) => lastSeen < since).map(({ session }) => session);
    },
    end: async ({ id }) => {
      sessions.delete(id);
      ended.add(id);
      for (const old of ended) {
        if (ended.size <= MAX_ENDED) break;
        ended.delete(old);
      }
      await rm(fileOf(id), { force: true });
    },
  };
}
