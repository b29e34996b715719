import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { TrainingError } from '../../core/training.ts';
import { exportPeft } from '../../train/peft.ts';
import { checkPeft } from '../../train/peft-check.ts';
import type { Served } from '../../train/policy-pointer.ts';
import type { PolicyEngine } from './training-plan.ts';

export interface HomeFolder {
  readonly dir: string;
}

export interface AdapterFoldersOptions {
  readonly engine: Pick<PolicyEngine, 'name' | 'place'>;
  readonly home: HomeFolder;
  readonly clock: Clock;
}

/** PEFT adapters, one folder per version, for users to copy and for other servers to serve. */
export interface AdapterFolders {
  /** The folder of a version, exported on first use and never again: a version is one set of weights. Rejects with a TrainingError. */
  bring(served: Served, signal: AbortSignal): Promise<string>;
  /** Removes the folders of all other versions. */
  keepOnly(versions: readonly number[]): Promise<void>;
}

const parentOf = (home: HomeFolder, engine: string): string =>
  path.join(home.dir, 'train', engine, 'adapters');

/** The folder of an exported version; undefined when there is none, as for the base model. */
export function findAdapter(home: HomeFolder, engine: string, version: number): string | undefined {
  const folder = path.join(parentOf(home, engine), `v${version}`);
  return existsSync(folder) ? folder : undefined;
}

export function createAdapterFolders({ engine, home, clock }: AdapterFoldersOptions): AdapterFolders {
  const parent = parentOf(home, engine.name);
  return {
    bring: async ({ version, sampler }, signal) => {
      if (sampler === undefined) throw new TrainingError('user', 'the base model has no adapter');
      const folder = path.join(parent, `v${version}`);
      // An exported adapter can be served while the engine is down.
      if (existsSync(folder)) return (await checked(folder)).folder;
      const { url, key } = (await engine.place()).engine;
      const keyed = key === undefined ? {} : { key };
      return (await exportPeft({ url, ...keyed, checkpoint: sampler, folder, fetch, clock, signal })).folder;
    },
    keepOnly: async (versions) => {
      const kept = new Set(versions);
      for (const name of await readdir(parent).catch(() => [])) {
        // Also the leftovers of an export that was killed.
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
    throw new TrainingError('user', `${folder} is damaged (${reason}). Remove it, and it is exported again.`);
  });
