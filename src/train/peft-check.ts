import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TensorEntry } from '../base/safetensors.ts';
import { asArray, asNumber, asObject, asString, isObject, type JsonObject, parseJson } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';
import { checkTensorFile } from './peft-tensors.ts';

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
