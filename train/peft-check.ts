import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DecodeError } from '../src/base/decode-error.ts';
import {
  dtypeBytes,
  openSafetensors,
  type SafetensorsFile,
  type TensorEntry,
} from '../src/base/safetensors.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type JsonObject,
  parseJson,
} from '../src/core/json.ts';
import { TrainingError } from '../src/core/training.ts';

interface TensorFile {
  readonly entries: readonly TensorEntry[];
  readonly sha256: string;
}

/** Whether the number whose little-endian bytes begin at an index is infinite or NaN, by its type. */
const IS_NOT_FINITE: Readonly<Record<string, (data: Uint8Array, at: number) => boolean>> = {
  F64: (d, i) => (at(d, i + 7) & 0x7f) === 0x7f && at(d, i + 6) >= 0xf0,
  F32: (d, i) => (at(d, i + 3) & 0x7f) === 0x7f && at(d, i + 2) >= 0x80,
  F16: (d, i) => (at(d, i + 1) & 0x7c) === 0x7c,
  BF16: (d, i) => (at(d, i + 1) & 0x7f) === 0x7f && at(d, i) >= 0x80,
};
const at = (data: Uint8Array, index: number): number => data[index] ?? 0;

/** A multiple of the size of every type. */
const CHUNK_BYTES = 4 * 2 ** 20;

/**
 * Reads a safetensors file from end to end in chunks. Throws a TrainingError when it is truncated, has bytes that belong to
 * no tensor, or holds a number that is not finite.
 */
async function checkTensorFile(file: string): Promise<TensorFile> {
  try {
    const tensors = await openSafetensors(file);
    try {
      checkLayout(tensors);
      const sha = createHash('sha256').update(tensors.header);
      for (const entry of tensors.entries) await checkNumbers(tensors, entry, (data) => sha.update(data));
      return { entries: tensors.entries, sha256: sha.digest('hex') };
    } finally {
      await tensors.close();
    }
  } catch (error) {
    throw error instanceof DecodeError ? refusedTensors(error.message) : error;
  }
}

const refusedTensors = (detail: string): TrainingError =>
  new TrainingError('server', `adapter_model.safetensors is refused: ${detail}`);

/** The tensors fill the file without gaps and without an overlap. */
function checkLayout({ size, header, entries }: SafetensorsFile): void {
  let end = 0;
  for (const { name, dtype, from, to } of entries) {
    if (IS_NOT_FINITE[dtype] === undefined)
      throw refusedTensors(`${name} is ${dtype}; ${Object.keys(IS_NOT_FINITE).join(', ')} are supported`);
    if (from !== end)
      throw refusedTensors(`${name} begins at byte ${from} and the tensor before it ends at byte ${end}`);
    end = to;
  }
  const wanted = header.length + end;
  if (wanted > size) throw refusedTensors(`it is truncated: ${size} bytes of ${wanted}`);
  if (wanted < size) throw refusedTensors(`${size - wanted} bytes at its end belong to no tensor`);
}

async function checkNumbers(
  file: SafetensorsFile,
  { name, dtype, from, to }: TensorEntry,
  onData: (data: Uint8Array) => void,
): Promise<void> {
  const isNotFinite = IS_NOT_FINITE[dtype];
  const width = dtypeBytes(dtype);
  for (let place = from; place < to; place += CHUNK_BYTES) {
    const data = new Uint8Array(Math.min(CHUNK_BYTES, to - place));
    await file.read(place, data);
    onData(data);
    for (let index = 0; index < data.length; index += width)
      if (isNotFinite?.(data, index))
        throw refusedTensors(`number ${(place - from + index) / width} of ${name} is not finite`);
  }
}

export const CONFIG_FILE = 'adapter_config.json';
export const TENSOR_FILE = 'adapter_model.safetensors';

/** A valid LoRA adapter in PEFT's format: a folder with these two files. */
export interface PeftAdapter {
  readonly folder: string;
  readonly rank: number;
  readonly alpha: number;
  readonly baseModel: string | undefined;
  readonly tensors: number;
  /** Over the tensors and their names: equal for equal adapters. */
  readonly sha256: string;
}

/** Values that the adapter must have. */
export interface PeftExpected {
  readonly rank?: number;
  readonly baseModel?: string;
}

/** Checks the adapter in a folder. Rejects with a TrainingError that names the defect. */
export async function checkPeft(folder: string, expected: PeftExpected = {}): Promise<PeftAdapter> {
  const config = parseJson(await readFile(path.join(folder, CONFIG_FILE), 'utf8'));
  if (!isObject(config)) throw refused('it is not a JSON object');
  const { rank, alpha, baseModel } = checkConfig(config, expected);
  const { entries, sha256 } = await checkTensorFile(path.join(folder, TENSOR_FILE));
  checkFactors(entries, config, rank);
  return { folder, rank, alpha, baseModel, tensors: entries.length, sha256 };
}

const refused = (detail: string): TrainingError =>
  new TrainingError('server', `${CONFIG_FILE} is refused: ${detail}`);
const wrongTensor = (name: string, detail: string): TrainingError =>
  new TrainingError('server', `${TENSOR_FILE} is refused: ${name} ${detail}`);

function checkConfig(config: JsonObject, expected: PeftExpected) {
  const rank = asNumber(config.r);
  const alpha = asNumber(config.lora_alpha);
  const baseModel = asString(config.base_model_name_or_path);
  if (config.peft_type !== 'LORA')
    throw refused(`peft_type is ${JSON.stringify(config.peft_type)}, not "LORA"`);
  if (rank === undefined || !Number.isInteger(rank) || rank < 1)
    throw refused(`r is ${JSON.stringify(config.r)}, not a positive integer`);
  if (alpha === undefined || alpha <= 0)
    throw refused(`lora_alpha is ${JSON.stringify(config.lora_alpha)}, so the adapter would do nothing`);
  if (expected.rank !== undefined && expected.rank !== rank)
    throw refused(`its rank is ${rank}, but rank ${expected.rank} was trained`);
  if (expected.baseModel !== undefined && expected.baseModel !== baseModel)
    throw refused(`its base model is ${baseModel ?? 'not named'}, but ${expected.baseModel} was trained`);
  return { rank, alpha, baseModel };
}

/** `base_model.model.<module>.lora_A.weight`, or `lora_embedding_A` for an embedding. */
const FACTOR = /^base_model\.model\.(.+)\.lora_(?:(embedding_)([AB])|([AB])\.weight)$/;

/** Each module must have both factors with the configured rank and nothing else; further dimensions are experts. */
function checkFactors(entries: readonly TensorEntry[], config: JsonObject, rank: number): void {
  const targets = Array.isArray(config.target_modules)
    ? asArray(config.target_modules).map(String)
    : undefined;
  const ranks = asObject(config.rank_pattern);
  const sides = new Map<string, string>();
  for (const { name, shape } of entries) {
    const [, module = '', , embedded, plain] = FACTOR.exec(name) ?? [];
    const side = embedded ?? plain;
    if (side === undefined) throw wrongTensor(name, 'is not a name of a LoRA factor in PEFT');
    const isNamed = (pattern: string): boolean => module === pattern || module.endsWith(`.${pattern}`);
    if (targets !== undefined && !targets.some(isNamed))
      throw wrongTensor(name, `belongs to a module that is not in target_modules (${targets.join(', ')})`);
    const own = Object.keys(ranks).find(isNamed);
    const wanted = (own === undefined ? undefined : asNumber(ranks[own])) ?? rank;
    const found = shape.length < 2 ? undefined : shape.at(side === 'A' ? -2 : -1);
    if (found !== wanted)
      throw wrongTensor(name, `has the shape [${shape}], which does not fit rank ${wanted}`);
    sides.set(module, (sides.get(module) ?? '') + side);
  }
  if (sides.size === 0) throw wrongTensor('it', 'has no tensors');
  for (const [module, both] of sides)
    if (both.length !== 2) throw wrongTensor(module, `has only the factor ${both}`);
}
