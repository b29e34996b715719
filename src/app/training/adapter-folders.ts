import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Home } from '../../config/home.ts';
import type { Clock } from '../../core/clock.ts';
import { TrainingError } from '../../core/training.ts';
import { exportPeft } from '../../train/peft.ts';
import { checkPeft } from '../../train/peft-check.ts';
import type { Served } from '../../train/policy-pointer.ts';
import type { PolicyEngine } from './policy-engine.ts';

export interface AdapterFoldersOptions {
  readonly engine: Pick<PolicyEngine, 'name' | 'place'>;
  readonly home: Pick<Home, 'dir'>;
  readonly clock: Clock;
}

/** Adapters as PEFT has them, a folder for each version: for a person to take, and for another server to serve. */
export interface AdapterFolders {
  /** Where it is. Exports it where it is not there yet, and never twice: a version is one set of weights. Rejects with a TrainingError. */
  bring(served: Served, signal: AbortSignal): Promise<string>;
  /** Removes all others. */
  keepOnly(versions: readonly number[]): Promise<void>;
}

const parentOf = (home: Pick<Home, 'dir'>, engine: string): string =>
  path.join(home.dir, 'train', engine, 'adapters');

/** Undefined when none was exported, as for the bare model. */
export function findAdapter(home: Pick<Home, 'dir'>, engine: string, version: number): string | undefined {
  const folder = path.join(parentOf(home, engine), `v${version}`);
  return existsSync(folder) ? folder : undefined;
}

export function createAdapterFolders({ engine, home, clock }: AdapterFoldersOptions): AdapterFolders {
  const parent = parentOf(home, engine.name);
  return {
    bring: async ({ version, sampler }, signal) => {
      if (sampler === undefined) throw new TrainingError('user', 'the bare model has no adapter');
      const folder = path.join(parent, `v${version}`);
      // What was exported can be served without the engine, which may be down.
      if (existsSync(folder)) return (await checked(folder)).folder;
      const { url, key } = (await engine.place()).engine;
      const keyed = key === undefined ? {} : { key };
      return (await exportPeft({ url, ...keyed, checkpoint: sampler, folder, fetch, clock, signal })).folder;
    },
    keepOnly: async (versions) => {
      const kept = new Set(versions);
      for (const name of await readdir(parent).catch(() => [])) {
        // Also what an export left that was killed.
        const version = /^v(\d+)(\.partial-.*)?$/.exec(name)?.[1];
        if (version !== undefined && !kept.has(Number(version)))
          await rm(path.join(parent, name), { recursive: true, force: true });
      }
    },
  };
}

const checked = (folder: string) =>
  checkPeft(folder).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TrainingError('user', `${folder} is damaged, and is exported again once removed: ${reason}`);
  });
