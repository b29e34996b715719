import { writeSafetensors } from '../../base/safetensors.ts';
import type { TarFile } from '../../base/tar.ts';
import { EngineError, type LoraOptions } from '../engine.ts';
import { readTensors } from '../model/load-weights.ts';

const PREFIX = 'base_model.model.';
const ATTENTION = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
const MLP = ['gate_proj', 'up_proj', 'down_proj'];

/** A saved adapter as the files of a PEFT adapter, without the optimizer. */
export function createPeftFiles(saved: Uint8Array, lora: LoraOptions, baseModel: string): readonly TarFile[] {
  const { tensors } = readTensors(saved);
  const factors = new Map([...tensors].filter(([name]) => name.startsWith(PREFIX)));
  if (factors.size === 0) throw new EngineError('This engine does not save adapters in PEFT format.');
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    bias: 'none',
    inference_mode: true,
    target_modules: [...(lora.attention ? ATTENTION : []), ...(lora.mlp ? MLP : [])],
  };
  return [
    { name: 'adapter_config.json', bytes: Buffer.from(`${JSON.stringify(config, undefined, 2)}\n`) },
    { name: 'adapter_model.safetensors', bytes: writeSafetensors(factors, { format: 'pt' }) },
  ];
}
