import type { JsonObject } from '../../core/json.ts';
import { EngineError, type LoraOptions } from '../engine.ts';
import { flagAt, optionalIntegerAt, optionalObjectAt } from './json-fields.ts';

const DEFAULT_RANK = 32;
const MAX_RANK = 256;

/** The protocol has no alpha: it equals the rank, so that the scale alpha / rank is 1. */
export function decodeLoraConfig(body: JsonObject, seed: number): LoraOptions {
  const config = optionalObjectAt(body, 'lora_config') ?? {};
  const rank = optionalIntegerAt(config, 'rank') ?? DEFAULT_RANK;
  if (rank < 1 || rank > MAX_RANK) throw new EngineError(`rank must be from 1 to ${MAX_RANK}.`);
  const attention = flagAt(config, 'train_attn', true);
  const mlp = flagAt(config, 'train_mlp', true);
  if (!attention && !mlp)
    throw new EngineError(
      'Nothing to train: train_attn and train_mlp are both false, and the output layer has no adapter.',
    );
  return { rank, alpha: rank, seed: (optionalIntegerAt(config, 'seed') ?? seed) >>> 0, attention, mlp };
}
