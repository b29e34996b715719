import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import type { Clock } from '../../core/clock.ts';
import {
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';
import { type Engine, EngineError, type LoraOptions } from '../engine.ts';
import {
  CHECKPOINT_KINDS,
  type CheckpointKind,
  isCheckpointName,
  parseTinkerPath,
  toTinkerPath,
} from '../tinker/tinker-path.ts';
import { readChecked, sha256 } from './durable-file.ts';
import { folderOf } from './folder-of.ts';
import { loraFrom, loraJson } from './model-card.ts';
import { Refusal } from './refusal.ts';

/** One saved state of a model. Its JSON file is written after the bytes it names, so that a checkpoint is complete or absent. */
export interface Checkpoint {
  readonly run: string;
  readonly kind: CheckpointKind;
  readonly name: string;
  /** The sequence number of the request that saved it: the same request may save it again. */
  readonly seq: number;
  readonly lora: LoraOptions;
  readonly created: number;
  readonly expires: number | undefined;
  /** Saved for one sampling session; not listed. */
  readonly isPassing: boolean;
  readonly metadata: JsonObject | undefined;
  readonly size: number;
  readonly sha: string;
}

export type NewCheckpoint = Omit<Checkpoint, 'created' | 'expires' | 'size' | 'sha'> & {
  readonly ttlSeconds: number | undefined;
  readonly overwrite: boolean;
};

export interface Checkpoints {
  /** Throws a Refusal (409) for an existing name, unless the same request saved it. */
  save(wanted: NewCheckpoint, bytes: Uint8Array): Promise<Checkpoint>;
  find(tinkerPath: string): Checkpoint | undefined;
  /** Rejects with a DamagedFileError when the bytes differ from those that were saved. */
  read(checkpoint: Checkpoint): Promise<Uint8Array>;
  remove(checkpoint: Checkpoint): Promise<void>;
  expireIn(checkpoint: Checkpoint, ttlSeconds: number | undefined): Promise<void>;
  /** The newest first. */
  list(run?: string): readonly Checkpoint[];
  sweep(): Promise<void>;
}

/** The state of a model between two requests. */
export interface ModelState {
  readonly adapter: string;
  readonly lora: LoraOptions;
}

/** The number of checkpoints for sampling sessions that are kept for each model. */
const MAX_TEMPORARY = 32;

export async function openCheckpoints(
  folder: string,
  clock: Clock,
  log: (line: string) => void,
): Promise<Checkpoints> {
  const known = new Map<string, Checkpoint>();
  const folderFor = (run: string, kind: string): string => path.join(folder, folderOf(run), kind);
  const cardFile = ({ run, kind, name }: Checkpoint): string =>
    path.join(folderFor(run, kind), `${name}.json`);
  const bytesFile = ({ run, kind, name, sha }: Checkpoint): string =>
    path.join(folderFor(run, kind), `${name}.${sha.slice(0, 16)}.bin`);
  const writeCard = async (checkpoint: Checkpoint): Promise<void> => {
    await replaceFile(cardFile(checkpoint), JSON.stringify(toJson(checkpoint)));
    known.set(toTinkerPath(checkpoint), checkpoint);
  };
  const expiryOf = (ttlSeconds: number | undefined): number | undefined =>
    ttlSeconds === undefined ? undefined : clock.now() + ttlSeconds * 1000;
  const remove = async (checkpoint: Checkpoint): Promise<void> => {
    known.delete(toTinkerPath(checkpoint));
    await rm(cardFile(checkpoint), { force: true });
    await rm(bytesFile(checkpoint), { force: true });
  };

  for (const file of await jsonFilesIn(folder)) {
    const checkpoint = fromJson(parseJson(await readFile(file, 'utf8')));
    if (checkpoint === undefined) log(`checkpoint ${file} is damaged and is skipped`);
    else known.set(toTinkerPath(checkpoint), checkpoint);
  }

  return {
    save: async ({ ttlSeconds, overwrite, ...wanted }, bytes) => {
      if (!isCheckpointName(wanted.name))
        throw new Refusal(400, `"${wanted.name.slice(0, 64)}" is not a valid checkpoint name.`);
      const before = known.get(toTinkerPath(wanted));
      if (before !== undefined && before.seq !== wanted.seq && !overwrite)
        throw new Refusal(409, `${toTinkerPath(wanted)} already exists.`);
      const checkpoint: Checkpoint = {
        ...wanted,
        created: clock.now(),
        expires: expiryOf(ttlSeconds),
        size: bytes.length,
        sha: sha256(bytes),
      };
      await mkdir(folderFor(wanted.run, wanted.kind), { recursive: true });
      await replaceFile(bytesFile(checkpoint), bytes);
      await writeCard(checkpoint);
      if (before !== undefined && before.sha !== checkpoint.sha) await rm(bytesFile(before), { force: true });
      const passing = [...known.values()].filter(({ isPassing, run }) => isPassing && run === wanted.run);
      for (const old of passing.slice(0, -MAX_TEMPORARY)) await remove(old);
      return checkpoint;
    },
    find: (tinkerPath) => {
      const checkpoint = known.get(tinkerPath);
      return checkpoint?.expires !== undefined && checkpoint.expires <= clock.now() ? undefined : checkpoint;
    },
    read: (checkpoint) => readChecked(bytesFile(checkpoint), checkpoint.sha),
    remove,
    expireIn: (checkpoint, ttlSeconds) => writeCard({ ...checkpoint, expires: expiryOf(ttlSeconds) }),
    list: (run) =>
      [...known.values()]
        .filter((one) => !one.isPassing && (run === undefined || one.run === run))
        .sort((a, b) => b.created - a.created || b.seq - a.seq),
    sweep: async () => {
      for (const checkpoint of [...known.values()]) {
        if (checkpoint.expires !== undefined && checkpoint.expires <= clock.now()) await remove(checkpoint);
      }
    },
  };
}

export function findCheckpoint(path: string, checkpoints: Checkpoints): Checkpoint {
  if (parseTinkerPath(path) === undefined)
    throw new EngineError(
      `"${path.slice(0, 200)}" is not a checkpoint path (tinker://<run>/weights/<name>).`,
    );
  const checkpoint = checkpoints.find(path);
  if (checkpoint === undefined) throw new EngineError(`Checkpoint ${path.slice(0, 200)} does not exist.`);
  return checkpoint;
}

export async function loadCheckpoint(
  checkpoint: Checkpoint,
  withOptimizer: boolean,
  { engine, checkpoints }: { readonly engine: Engine; readonly checkpoints: Checkpoints },
): Promise<ModelState> {
  if (withOptimizer && checkpoint.kind !== 'weights')
    throw new EngineError(`${toTinkerPath(checkpoint)} has no optimizer: it was saved for sampling.`);
  const adapter = await engine.load(await checkpoints.read(checkpoint), withOptimizer);
  return { adapter, lora: checkpoint.lora };
}

async function jsonFilesIn(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

const toJson = ({ lora, ...rest }: Checkpoint): JsonObject => compact({ ...rest, lora: loraJson(lora) });

function fromJson(value: unknown): Checkpoint | undefined {
  if (!isObject(value)) return undefined;
  const { metadata } = value;
  const kind = CHECKPOINT_KINDS.find((one) => one === value.kind);
  const run = asString(value.run);
  const name = asString(value.name);
  const sha = asString(value.sha);
  const lora = loraFrom(asObject(value.lora));
  if (
    kind === undefined ||
    run === undefined ||
    name === undefined ||
    sha === undefined ||
    lora === undefined
  )
    return undefined;
  return {
    run,
    kind,
    name,
    sha,
    lora,
    seq: asNumber(value.seq) ?? 0,
    created: asNumber(value.created) ?? 0,
    expires: asNumber(value.expires),
    isPassing: value.isPassing === true,
    metadata: isObject(metadata) ? metadata : undefined,
    size: asNumber(value.size) ?? 0,
  };
}
