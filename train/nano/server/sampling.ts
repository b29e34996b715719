import { randomInt, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../src/base/atomic-file.ts';
import { asObject, asString, compact, parseJson } from '../../../src/core/json.ts';
import { type Engine, EngineError } from '../engine.ts';
import { alignPromptLogprobs, type TinkerSampleRequest, toSampleRequest } from '../tinker/sample-request.ts';
import { type CheckpointStore, findCheckpoint, loadCheckpoint } from './checkpoints.ts';
import { type Futures, failureOf } from './futures.ts';
import { HttpRefusal } from './http.ts';
import { fileNameOfId } from './model-journal.ts';
import type { TinkerServerLimits } from './server-limits.ts';

/** A sampling session: an id for weights to sample from. Without a path it is the base model. */
interface SamplingSession {
  readonly id: string;
  readonly session: string;
  readonly path: string | undefined;
}

export interface SamplingSessions {
  /** `number` is the client's sequence number. The same number with the same path is the same session. */
  create(wanted: {
    readonly session: string;
    readonly number: number | undefined;
    readonly path: string | undefined;
  }): Promise<SamplingSession>;
  find(id: string): SamplingSession | undefined;
  list(session: string): readonly SamplingSession[];
  remove(sampler: SamplingSession): Promise<void>;
  /** Caches a frozen copy of the weights at a path, so that they need not be loaded. */
  keepFrozen(path: string, frozen: string): Promise<void>;
  /** Runs `use` with the engine's name for the weights at a path. They are not disposed of before it ends. */
  withWeights<T>(path: string | undefined, use: (weights: string | undefined) => Promise<T>): Promise<T>;
}

/** Frozen copies that stay in the engine; others are loaded again on demand. */
const MAX_FROZEN = 8;

interface Frozen {
  readonly name: Promise<string>;
  users: number;
}

/** Copies of checkpoints that can be sampled from, at most `MAX_FROZEN` beside those in use. */
function createFrozenWeights(
  engine: Engine,
  checkpoints: CheckpointStore,
): Pick<SamplingSessions, 'keepFrozen' | 'withWeights'> {
  /** Least recently used first. */
  const frozen = new Map<string, Frozen>();
  const load = async (from: string): Promise<string> => {
    const { adapter } = await loadCheckpoint(findCheckpoint(from, checkpoints), false, {
      engine,
      checkpoints,
    });
    const name = await engine.freeze(adapter);
    await engine.dispose(adapter);
    return name;
  };
  const evict = async (): Promise<void> => {
    for (const [from, { name, users }] of [...frozen]) {
      if (frozen.size <= MAX_FROZEN) return;
      if (users > 0) continue;
      frozen.delete(from);
      await engine.dispose(await name);
    }
  };

  return {
    keepFrozen: async (from, name) => {
      const before = frozen.get(from);
      frozen.delete(from);
      frozen.set(from, { name: Promise.resolve(name), users: 0 });
      // A sampling that still uses the old copy of an overwritten checkpoint finishes first.
      if (before !== undefined && before.users === 0) await engine.dispose(await before.name);
      await evict();
    },
    withWeights: async (from, use) => {
      if (from === undefined) return use(undefined);
      const entry = frozen.get(from) ?? { name: load(from), users: 0 };
      frozen.delete(from);
      frozen.set(from, entry);
      entry.users++;
      try {
        return await use(await entry.name);
      } catch (error) {
        const isLoaded = await entry.name.then(
          () => true,
          () => false,
        );
        if (!isLoaded && frozen.get(from) === entry) frozen.delete(from);
        throw error;
      } finally {
        entry.users--;
        await evict();
      }
    },
  };
}

export async function openSamplingSessions(
  folder: string,
  engine: Engine,
  checkpoints: CheckpointStore,
): Promise<SamplingSessions> {
  const samplers = new Map<string, SamplingSession>();
  const { keepFrozen, withWeights } = createFrozenWeights(engine, checkpoints);
  const fileOf = (id: string): string => path.join(folder, `${fileNameOfId(id)}.json`);
  let unnumbered = 0;

  await mkdir(folder, { recursive: true });
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.json')) continue;
    const card = asObject(parseJson(await readFile(path.join(folder, file), 'utf8')));
    const id = asString(card.id);
    const session = asString(card.session);
    if (id !== undefined && session !== undefined)
      samplers.set(id, { id, session, path: asString(card.path) });
  }

  return {
    create: async ({ session, number, path: from }) => {
      let id = `${session}:sample:${number ?? `x${unnumbered++}`}`;
      // The number is taken by other weights: after a retry a client may reuse a number, and must not get the old weights.
      for (
        let taken = samplers.get(id);
        taken !== undefined && taken.path !== from;
        taken = samplers.get(id)
      ) {
        id = `${session}:sample:x${unnumbered++}`;
      }
      const sampler = { id, session, path: from };
      await replaceFile(fileOf(id), JSON.stringify(compact(sampler)));
      samplers.set(id, sampler);
      return sampler;
    },
    find: (id) => samplers.get(id),
    list: (session) => [...samplers.values()].filter((sampler) => sampler.session === session),
    remove: async ({ id }) => {
      samplers.delete(id);
      await rm(fileOf(id), { force: true });
    },
    keepFrozen,
    withWeights,
  };
}

/** Runs sampling requests, a few at a time. They change nothing and are not stored: after a kill, clients send them again. */
export interface SamplingQueue {
  /** The id of the future. A repeated sequence number of a session with the same content gets the same id. */
  submit(ask: TinkerSampleRequest, print: string): string;
  /** Cancels a request that has not ended. */
  cancel(requestId: string): void;
  /** Cancels all requests whose id has this prefix. */
  cancelAll(prefix: string): void;
  close(): Promise<void>;
}

interface SamplingQueueOptions {
  readonly engine: Engine;
  readonly samplers: SamplingSessions;
  readonly futures: Futures;
  readonly limits: TinkerServerLimits;
  readonly endOfText: readonly number[];
  readonly log: (line: string) => void;
}

interface QueuedSampling {
  readonly id: string;
  readonly ask: TinkerSampleRequest;
  readonly controller: AbortController;
}

const SEEDS = 2 ** 32;

/** The checkpoint that a request samples from; undefined: the base model. */
function pathOf(
  { samplerId, path, baseModel }: TinkerSampleRequest,
  { samplers, engine }: Pick<SamplingQueueOptions, 'samplers' | 'engine'>,
): string | undefined {
  if (samplerId !== undefined) {
    const sampler = samplers.find(samplerId);
    if (sampler === undefined)
      throw new EngineError(`Sampling session ${samplerId.slice(0, 100)} does not exist.`);
    return sampler.path;
  }
  if (path === undefined && baseModel !== engine.model.name)
    throw new EngineError(
      `Model "${String(baseModel).slice(0, 100)}" does not exist; the model is ${engine.model.name}.`,
    );
  return path;
}

export function createSamplingQueue(options: SamplingQueueOptions): SamplingQueue {
  const { engine, samplers, futures, limits, endOfText, log } = options;
  const queue: QueuedSampling[] = [];
  const running = new Map<QueuedSampling, Promise<void>>();
  const prints = new Map<string, string>();

  const run = async ({ id, ask, controller }: QueuedSampling): Promise<void> => {
    const { signal } = controller;
    try {
      const request = toSampleRequest(ask, engine.model, endOfText, randomInt(SEEDS));
      const result = await samplers.withWeights(pathOf(ask, options), (weights) =>
        engine.sample(weights, request, signal),
      );
      futures.settle(id, { kind: 'sample', result: alignPromptLogprobs(result, ask) });
    } catch (error) {
      const failure = signal.aborted
        ? failureOf(new EngineError('The request was cancelled.'))
        : failureOf(error);
      if (failure.category === 'server') log(`sampling ${id} failed: ${failure.error}`);
      futures.settle(id, failure);
    }
  };
  const next = (): void => {
    while (running.size < limits.samplesAtOnce) {
      const one = queue.shift();
      if (one === undefined) return;
      const done = run(one).finally(() => {
        running.delete(one);
        next();
      });
      running.set(one, done);
    }
  };
  const cancelWhere = (isMeant: (id: string) => boolean): void => {
    for (const { id, controller } of running.keys()) if (isMeant(id)) controller.abort();
    for (let i = queue.length - 1; i >= 0; i--) {
      const one = queue[i];
      if (one === undefined || !isMeant(one.id)) continue;
      queue.splice(i, 1);
      futures.settle(one.id, failureOf(new EngineError('The request was cancelled.')));
    }
  };

  return {
    submit: (ask, print) => {
      const isNumbered = ask.samplerId !== undefined && ask.seqId !== undefined;
      const id = isNumbered ? `${ask.samplerId}:${ask.seqId}` : `sample:${randomUUID()}`;
      if (futures.peek(id) !== undefined) {
        if (prints.get(id) !== print)
          throw new HttpRefusal(409, `Request ${ask.seqId} of this sampling session had other content.`);
        return id;
      }
      if (queue.length >= limits.samples)
        throw new HttpRefusal(429, 'Too many sampling requests are queued.', 1);
      futures.open(id);
      if (isNumbered) {
        prints.set(id, print);
        for (const old of prints.keys()) {
          if (prints.size <= limits.kept) break;
          prints.delete(old);
        }
      }
      queue.push({ id, ask, controller: new AbortController() });
      next();
      return id;
    },
    cancel: (requestId) => cancelWhere((id) => id === requestId),
    cancelAll: (prefix) => cancelWhere((id) => id.startsWith(prefix)),
    close: async () => {
      cancelWhere(() => true);
      await Promise.all(running.values());
    },
  };
}
