import { EngineError, type LoraOptions } from '../engine.ts';
import { readSafetensors, writeSafetensors } from '../safetensors.ts';

export interface AdapterFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const PREFIX = 'base_model.model.';
const ATTENTION = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
const MLP = ['gate_proj', 'up_proj', 'down_proj'];

/** What an engine saved, as the files of a PEFT adapter that other programs read: without the optimiser. */
export function createPeftFiles(
  saved: Uint8Array,
  lora: LoraOptions,
  baseModel: string,
): readonly AdapterFile[] {
  const { tensors } = readSafetensors(saved);
  const factors = new Map([...tensors].filter(([name]) => name.startsWith(PREFIX)));
  if (factors.size === 0) throw new EngineError('This engine saves nothing that PEFT could read.');
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
