import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../src/base/atomic-file.ts';
import type { Clock } from '../src/core/clock.ts';
import { errorMessage } from '../src/core/failure.ts';
import { TrainingError } from '../src/core/training.ts';
import { CONFIG_FILE, checkPeft, type PeftAdapter, type PeftExpected } from './peft-check.ts';
import { downloadPeft } from './peft-download.ts';
import type { PolicyVersion } from './promotion-stages.ts';
import { createTransport } from './tinker/transport.ts';
import type { PolicyEngine } from './training-plan.ts';

export interface ExportPeftOptions {
  /** Of the engine's server, up to and without `/api/v1`. */
  readonly url: string;
  readonly key?: string;
  /** What `saveForSampler` or `saveState` answered. */
  readonly checkpoint: string;
  /** Where the adapter is to be; it may be there already. */
  readonly folder: string;
  readonly expected?: PeftExpected;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Between looks at an archive that is still being packed. */
  readonly packingMs?: number;
  readonly mostBytes?: number;
}

const PACKING_MS = 30_000;
const MOST_BYTES = 64 * 2 ** 30;
/** Of an answer that only holds links. */
const MOST_ANSWER_BYTES = 2 ** 20;

/**
 * Exports a checkpoint as a PEFT adapter that other servers can serve. The folder appears atomically after every number in
 * it was checked, or not at all, and never changes afterwards: a server may read it at any time. An existing folder is kept
 * when it holds the same adapter, else the export is refused. Rejects with a TrainingError.
 */
export async function exportPeft(options: ExportPeftOptions): Promise<PeftAdapter> {
  const { url, key, checkpoint, expected, fetch, clock, signal } = options;
  const { packingMs = PACKING_MS, mostBytes = MOST_BYTES } = options;
  const folder = path.resolve(options.folder);
  const transport = createTransport({ url, key, fetch, clock, mostBytes: MOST_ANSWER_BYTES });
  await mkdir(path.dirname(folder), { recursive: true });
  // In the same parent folder: a rename across file systems would be a copy.
  const beside = await mkdtemp(`${folder}.partial-`);
  try {
    await downloadPeft(checkpoint, beside, { transport, url, fetch, signal, packingMs, mostBytes });
    const adapter = await checkPeft(beside, expected);
    if (await isThere(folder)) await checkSame(adapter, folder);
    else await moveInto(beside, folder);
    return { ...adapter, folder };
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

const isThere = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => true,
    () => false,
  );

async function checkSame(adapter: PeftAdapter, folder: string): Promise<void> {
  const configOf = (one: string): Promise<string> => readFile(path.join(one, CONFIG_FILE), 'utf8');
  const there = await checkPeft(folder).catch(() => undefined);
  if (there?.sha256 === adapter.sha256 && (await configOf(folder)) === (await configOf(adapter.folder)))
    return;
  throw new TrainingError(
    'user',
    `${folder} already holds another adapter, which servers may be reading: choose another folder, or remove it.`,
  );
}

/** Durable: the files were synced when they were written; this syncs their names. */
async function moveInto(beside: string, folder: string): Promise<void> {
  await syncFolder(beside);
  await rename(beside, folder);
  await syncFolder(path.dirname(folder));
}

export interface HomeFolder {
  readonly dir: string;
}

interface AdapterFoldersOptions {
  readonly engine: Pick<PolicyEngine, 'name' | 'place'>;
  readonly home: HomeFolder;
  readonly clock: Clock;
}

/** PEFT adapters, one folder per version, for users to copy and for other servers to serve. */
export interface AdapterFolders {
  /** The folder of a version, exported on first use and never again: a version is one set of weights. Rejects with a TrainingError. */
  bring(served: PolicyVersion, signal: AbortSignal): Promise<string>;
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
    const reason = errorMessage(error);
    throw new TrainingError('user', `${folder} is damaged (${reason}). Remove it, and it is exported again.`);
  });
