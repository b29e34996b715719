import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { asObject, asString, compact, type JsonObject, parseJson } from '../../core/json.ts';
import { writeDurably } from './durable-file.ts';
import { Refusal } from './refusal.ts';

/** A client's stay. It lasts as long as the client is heard of. */
export interface Session {
  readonly id: string;
  readonly metadata: JsonObject | undefined;
}

export interface Sessions {
  create(metadata: JsonObject | undefined): Promise<Session>;
  /** The client was heard of. Refuses with 410 a session that is over, with 404 one that never was. */
  touch(id: string): Session;
  list(): readonly Session[];
  /** Those that were silent for too long. */
  silent(): readonly Session[];
  end(session: Session): Promise<void>;
}

const REMEMBERED = 1024;

export async function openSessions(folder: string, clock: Clock, silenceMs: number): Promise<Sessions> {
  const sessions = new Map<string, { readonly session: Session; heard: number }>();
  const over = new Set<string>();
  const fileOf = (id: string): string => path.join(folder, `${id}.json`);

  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue;
    const card = asObject(parseJson(await readFile(path.join(folder, name), 'utf8')));
    const id = asString(card.id);
    // While we were away nobody could be heard: the silence starts anew.
    if (id !== undefined) {
      const metadata = card.metadata === undefined ? undefined : asObject(card.metadata);
      sessions.set(id, { session: { id, metadata }, heard: clock.monotonic() });
    }
  }

  return {
    create: async (metadata) => {
      const session = { id: `s-${randomUUID()}`, metadata };
      await writeDurably(fileOf(session.id), JSON.stringify(compact(session)));
      sessions.set(session.id, { session, heard: clock.monotonic() });
      return session;
    },
    touch: (id) => {
      const known = sessions.get(id);
      if (known === undefined) {
        throw over.has(id)
          ? new Refusal(410, `The session ${id} is over.`)
          : new Refusal(404, `There is no session ${id.slice(0, 100)}.`);
      }
      known.heard = clock.monotonic();
      return known.session;
    },
    list: () => [...sessions.values()].map(({ session }) => session),
    silent: () => {
      const since = clock.monotonic() - silenceMs;
      return [...sessions.values()].filter(({ heard }) => heard < since).map(({ session }) => session);
    },
    end: async ({ id }) => {
      sessions.delete(id);
      over.add(id);
      for (const old of over) {
        if (over.size <= REMEMBERED) break;
        over.delete(old);
      }
      await rm(fileOf(id), { force: true });
    },
  };
}
