import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../src/base/atomic-file.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { asObject, asString, compact, type JsonObject, parseJson } from '../../../src/core/json.ts';
import type { Engine } from '../engine.ts';
import { type CheckpointStore, openCheckpointStore } from './checkpoints.ts';
import { createFutures, type Futures } from './futures.ts';
import { createIdempotencyKeys, HttpRefusal, type IdempotencyKeys } from './http.ts';
import { type Models, openModels } from './models.ts';
import {
  createSamplingQueue,
  openSamplingSessions,
  type SamplingQueue,
  type SamplingSessions,
} from './sampling.ts';
import type { TinkerServerLimits } from './server-limits.ts';

/** A client's session. It lasts as long as the client sends requests or heartbeats. */
interface ServerSession {
  readonly id: string;
  readonly metadata: JsonObject | undefined;
}

interface ServerSessions {
  create(metadata: JsonObject | undefined): Promise<ServerSession>;
  /** Records a request of the client. Throws a Refusal: 410 for an ended session, 404 for an unknown one. */
  touch(id: string): ServerSession;
  list(): readonly ServerSession[];
  /** Sessions without requests for too long. */
  expired(): readonly ServerSession[];
  end(session: ServerSession): Promise<void>;
}

const MAX_ENDED = 1024;

async function openServerSessions(folder: string, clock: Clock, timeoutMs: number): Promise<ServerSessions> {
  const sessions = new Map<string, { readonly session: ServerSession; lastSeen: number }>();
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
      const entry = sessions.get(id);
      if (entry === undefined) {
        throw ended.has(id)
          ? new HttpRefusal(410, `Session ${id} has ended.`)
          : new HttpRefusal(404, `Session ${id.slice(0, 100)} does not exist.`);
      }
      entry.lastSeen = clock.monotonic();
      return entry.session;
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

/** The parts that the routes use. */
export interface ServerParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly limits: TinkerServerLimits;
  readonly sessions: ServerSessions;
  readonly models: Models;
  readonly samplers: SamplingSessions;
  readonly sampling: SamplingQueue;
  readonly checkpoints: CheckpointStore;
  readonly futures: Futures;
  readonly keys: IdempotencyKeys;
  /** Ends a session with its models and sampling sessions; named checkpoints are kept. */
  dropSession(session: ServerSession): Promise<void>;
}

interface ServerPartsOptions {
  readonly engine: Engine;
  readonly folder: string;
  readonly clock: Clock;
  readonly limits: TinkerServerLimits;
  readonly log: (line: string) => void;
  readonly endOfText?: readonly number[];
}

/** Reads the folder and creates the server's parts. Expired sessions, checkpoints and results are removed periodically. */
export async function openServerParts(
  options: ServerPartsOptions,
): Promise<{ readonly parts: ServerParts; close(): Promise<void> }> {
  const { engine, folder, clock, limits, log, endOfText = [] } = options;
  const futures = createFutures(clock, limits);
  const keys = createIdempotencyKeys(limits.kept);
  const sessions = await openServerSessions(path.join(folder, 'sessions'), clock, limits.sessionMs);
  const checkpoints = await openCheckpointStore(path.join(folder, 'checkpoints'), clock, log);
  const samplers = await openSamplingSessions(path.join(folder, 'samplers'), engine, checkpoints);
  const sampling = createSamplingQueue({ engine, samplers, futures, limits, endOfText, log });
  const models = await openModels({
    engine,
    checkpoints,
    samplers,
    futures,
    limits,
    log,
    folder: path.join(folder, 'models'),
    now: () => clock.now(),
    onKey: (key, print, requestId, modelId) =>
      keys.remember(key, print, { request_id: requestId, model_id: modelId }),
  });

  const dropSession = async (session: ServerSession): Promise<void> => {
    await sessions.end(session);
    sampling.cancelAll(`${session.id}:`);
    for (const model of models.live()) if (model.card.session === session.id) await models.end(model);
    for (const sampler of samplers.list(session.id)) {
      const checkpoint = sampler.path === undefined ? undefined : checkpoints.find(sampler.path);
      await samplers.remove(sampler);
      if (checkpoint?.isPassing === true) await checkpoints.remove(checkpoint);
    }
  };
  const sweep = async (): Promise<void> => {
    futures.sweep();
    await checkpoints.sweep();
    for (const session of sessions.expired()) {
      log(`session ${session.id} had no requests for too long and is dropped`);
      await dropSession(session);
    }
  };
  let sweeping: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    sweeping = sweeping
      .then(sweep)
      .catch((error: Error) => log(`removing expired data failed: ${error.message}`));
  }, limits.sweepMs);
  timer.unref();

  return {
    parts: {
      engine,
      clock,
      limits,
      sessions,
      models,
      samplers,
      sampling,
      checkpoints,
      futures,
      keys,
      dropSession,
    },
    close: async () => {
      clearInterval(timer);
      await sweeping;
      await sampling.close();
      await models.close();
    },
  };
}
