import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../src/base/atomic-file.ts';
import type { Clock } from '../../../src/core/clock.ts';
import {
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';
import { type Engine, EngineError, type LoraOptions } from '../engine.ts';
import { HttpRefusal } from './http.ts';
import { fileNameOfId, readChecked, sha256 } from './model-journal.ts';

/** What a checkpoint is for: to continue training, to sample from, or to export. */
const CHECKPOINT_KINDS = ['weights', 'sampler_weights', 'external_weights'] as const;
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

interface CheckpointName {
  readonly run: string;
  readonly kind: CheckpointKind;
  readonly name: string;
}

/** `tinker://<run>/<kind>/<name>`; undefined for anything else. */
function parseTinkerPath(path: string): CheckpointName | undefined {
  if (!path.startsWith('tinker://')) return undefined;
  const [run = '', kind = '', name = '', ...rest] = path.slice('tinker://'.length).split('/');
  const checkpointKind = CHECKPOINT_KINDS.find((one) => one === kind);
  return checkpointKind === undefined || run === '' || name === '' || rest.length > 0
    ? undefined
    : { run, kind: checkpointKind, name };
}

export const toTinkerPath = ({ run, kind, name }: CheckpointName): string =>
  `tinker://${run}/${kind}/${name}`;

/** Checkpoint names become file names. */
const isCheckpointName = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(name);

/** A model as it was requested. Stored in a file before the reply, so that a kill does not lose the request. */
export interface ModelCard {
  readonly id: string;
  readonly session: string;
  readonly lora: LoraOptions;
  /** The checkpoint that it starts from; undefined for a new adapter. */
  readonly from: { readonly path: string; readonly withOptimizer: boolean } | undefined;
  readonly metadata: JsonObject | undefined;
  readonly created: number;
  /** The fingerprint of the request that created it. */
  readonly print: string;
  /** It was unloaded or its session ended: only its checkpoints remain. */
  readonly isEnded: boolean;
}

export const loraJson = ({ rank, alpha, seed, attention, mlp }: LoraOptions): JsonObject => ({
  rank,
  alpha,
  seed,
  attention,
  mlp,
});

export function loraFrom(value: JsonObject): LoraOptions | undefined {
  const rank = asNumber(value.rank);
  const alpha = asNumber(value.alpha);
  const seed = asNumber(value.seed);
  if (rank === undefined || alpha === undefined || seed === undefined) return undefined;
  return { rank, alpha, seed, attention: value.attention === true, mlp: value.mlp === true };
}

export const cardJson = ({ lora, from, ...rest }: ModelCard): JsonObject =>
  compact({ ...rest, lora: loraJson(lora), from: from === undefined ? undefined : { ...from } });

export function cardFrom(value: unknown): ModelCard | undefined {
  const card = asObject(value);
  const id = asString(card.id);
  const session = asString(card.session);
  const lora = loraFrom(asObject(card.lora));
  if (id === undefined || session === undefined || lora === undefined) return undefined;
  const from = isObject(card.from) ? card.from : undefined;
  return {
    id,
    session,
    lora,
    from:
      from === undefined
        ? undefined
        : { path: asString(from.path) ?? '', withOptimizer: from.withOptimizer === true },
    metadata: isObject(card.metadata) ? card.metadata : undefined,
    created: asNumber(card.created) ?? 0,
    print: asString(card.print) ?? '',
    isEnded: card.isEnded === true,
  };
}

/** One saved state of a model. Its JSON file is written after the bytes it names, so that a checkpoint is complete or absent. */
export interface StoredCheckpoint {
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

type NewCheckpoint = Omit<StoredCheckpoint, 'created' | 'expires' | 'size' | 'sha'> & {
  readonly ttlSeconds: number | undefined;
  readonly overwrite: boolean;
};

export interface CheckpointStore {
  /** Throws a Refusal (409) for an existing name, unless the same request saved it. */
  save(wanted: NewCheckpoint, bytes: Uint8Array): Promise<StoredCheckpoint>;
  find(tinkerPath: string): StoredCheckpoint | undefined;
  /** Rejects with a DamagedFileError when the bytes differ from those that were saved. */
  read(checkpoint: StoredCheckpoint): Promise<Uint8Array>;
  remove(checkpoint: StoredCheckpoint): Promise<void>;
  expireIn(checkpoint: StoredCheckpoint, ttlSeconds: number | undefined): Promise<void>;
  /** The newest first. */
  list(run?: string): readonly StoredCheckpoint[];
  sweep(): Promise<void>;
}

/** The state of a model between two requests. */
export interface ModelState {
  readonly adapter: string;
  readonly lora: LoraOptions;
}

/** The number of checkpoints for sampling sessions that are kept for each model. */
const MAX_TEMPORARY = 32;

export async function openCheckpointStore(
  folder: string,
  clock: Clock,
  log: (line: string) => void,
): Promise<CheckpointStore> {
  const checkpoints = new Map<string, StoredCheckpoint>();
  const folderFor = (run: string, kind: string): string => path.join(folder, fileNameOfId(run), kind);
  const cardFile = ({ run, kind, name }: StoredCheckpoint): string =>
    path.join(folderFor(run, kind), `${name}.json`);
  const bytesFile = ({ run, kind, name, sha }: StoredCheckpoint): string =>
    path.join(folderFor(run, kind), `${name}.${sha.slice(0, 16)}.bin`);
  const writeCard = async (checkpoint: StoredCheckpoint): Promise<void> => {
    await replaceFile(cardFile(checkpoint), JSON.stringify(toJson(checkpoint)));
    checkpoints.set(toTinkerPath(checkpoint), checkpoint);
  };
  const expiryOf = (ttlSeconds: number | undefined): number | undefined =>
    ttlSeconds === undefined ? undefined : clock.now() + ttlSeconds * 1000;
  const remove = async (checkpoint: StoredCheckpoint): Promise<void> => {
    checkpoints.delete(toTinkerPath(checkpoint));
    await rm(cardFile(checkpoint), { force: true });
    await rm(bytesFile(checkpoint), { force: true });
  };

  for (const file of await jsonFilesIn(folder)) {
    const checkpoint = fromJson(parseJson(await readFile(file, 'utf8')));
    if (checkpoint === undefined) log(`checkpoint ${file} is damaged and is skipped`);
    else checkpoints.set(toTinkerPath(checkpoint), checkpoint);
  }

  return {
    save: async ({ ttlSeconds, overwrite, ...wanted }, bytes) => {
      if (!isCheckpointName(wanted.name))
        throw new HttpRefusal(400, `"${wanted.name.slice(0, 64)}" is not a valid checkpoint name.`);
      const before = checkpoints.get(toTinkerPath(wanted));
      if (before !== undefined && before.seq !== wanted.seq && !overwrite)
        throw new HttpRefusal(409, `${toTinkerPath(wanted)} already exists.`);
      const checkpoint: StoredCheckpoint = {
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
      const passing = [...checkpoints.values()].filter(
        ({ isPassing, run }) => isPassing && run === wanted.run,
      );
      for (const old of passing.slice(0, -MAX_TEMPORARY)) await remove(old);
      return checkpoint;
    },
    find: (tinkerPath) => {
      const checkpoint = checkpoints.get(tinkerPath);
      return checkpoint?.expires !== undefined && checkpoint.expires <= clock.now() ? undefined : checkpoint;
    },
    read: (checkpoint) => readChecked(bytesFile(checkpoint), checkpoint.sha),
    remove,
    expireIn: (checkpoint, ttlSeconds) => writeCard({ ...checkpoint, expires: expiryOf(ttlSeconds) }),
    list: (run) =>
      [...checkpoints.values()]
        .filter((one) => !one.isPassing && (run === undefined || one.run === run))
        .sort((a, b) => b.created - a.created || b.seq - a.seq),
    sweep: async () => {
      for (const checkpoint of [...checkpoints.values()]) {
        if (checkpoint.expires !== undefined && checkpoint.expires <= clock.now()) await remove(checkpoint);
      }
    },
  };
}

export function findCheckpoint(path: string, checkpoints: CheckpointStore): StoredCheckpoint {
  if (parseTinkerPath(path) === undefined)
    throw new EngineError(
      `"${path.slice(0, 200)}" is not a checkpoint path (tinker://<run>/weights/<name>).`,
    );
  const checkpoint = checkpoints.find(path);
  if (checkpoint === undefined) throw new EngineError(`Checkpoint ${path.slice(0, 200)} does not exist.`);
  return checkpoint;
}

export async function loadCheckpoint(
  checkpoint: StoredCheckpoint,
  withOptimizer: boolean,
  { engine, checkpoints }: { readonly engine: Engine; readonly checkpoints: CheckpointStore },
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

const toJson = ({ lora, ...rest }: StoredCheckpoint): JsonObject =>
  compact({ ...rest, lora: loraJson(lora) });

function fromJson(value: unknown): StoredCheckpoint | undefined {
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
