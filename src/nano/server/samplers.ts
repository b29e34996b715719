import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import { asObject, asString, compact, parseJson } from '../../core/json.ts';
import type { Engine } from '../engine.ts';
import { type Checkpoints, findCheckpoint, loadCheckpoint } from './checkpoints.ts';
import { folderOf } from './folder-of.ts';

/** A sampling session: an id for weights to sample from. Without a path it is the base model. */
export interface Sampler {
  readonly id: string;
  readonly session: string;
  readonly path: string | undefined;
}

export interface Samplers {
  /** `number` is the client's sequence number. The same number with the same path is the same session. */
  create(wanted: {
    readonly session: string;
    readonly number: number | undefined;
    readonly path: string | undefined;
  }): Promise<Sampler>;
  find(id: string): Sampler | undefined;
  list(session: string): readonly Sampler[];
  remove(sampler: Sampler): Promise<void>;
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

export async function openSamplers(
  folder: string,
  engine: Engine,
  checkpoints: Checkpoints,
): Promise<Samplers> {
  const samplers = new Map<string, Sampler>();
  /** Least recently used first. */
  const frozen = new Map<string, Frozen>();
  const fileOf = (id: string): string => path.join(folder, `${folderOf(id)}.json`);
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
