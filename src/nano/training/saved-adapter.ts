import { type FloatTensor, type Safetensors, writeSafetensors } from '../../base/safetensors.ts';
import { EngineError, type LoraOptions } from '../engine.ts';
import { readTensors, type Weights } from '../model/load-weights.ts';
import { checkLoraOptions, type LoraPiece, loraPieces, loraSize } from '../model/lora.ts';
import { projectionName } from '../model/projections.ts';
import { type Adapter, createAdapter } from './adapter.ts';

const FORMAT = 'nano-adapter-1';

/** PEFT's names, so that other tools can read the weights. */
const pieceName = ({ layer, projection }: LoraPiece, factor: 'A' | 'B'): string =>
  `base_model.model.${projectionName(layer, projection)}.lora_${factor}.weight`;

/** The optimizer's arrays, one tensor each. */
const STATE = ['gathered', 'mean', 'square'] as const;
const stateName = (part: (typeof STATE)[number]): string => `optimizer.${part}`;

/** An adapter as a safetensors file: its factors and, with the optimizer, its state and the accumulated gradients. */
export const writeAdapter = (adapter: Adapter, base: Weights, withOptimizer: boolean): Uint8Array => {
  const { options, values } = adapter.lora;
  const { rank } = options;
  const tensors = new Map<string, FloatTensor>();
  for (const piece of loraPieces(base.shape, options)) {
    const { a, b, inputs, outputs } = piece;
    tensors.set(pieceName(piece, 'A'), {
      shape: [rank, inputs],
      values: values.subarray(a, a + rank * inputs),
    });
    tensors.set(pieceName(piece, 'B'), {
      shape: [outputs, rank],
      values: values.subarray(b, b + rank * outputs),
    });
  }
  for (const part of withOptimizer ? STATE : []) {
    tensors.set(stateName(part), { shape: [values.length], values: adapter[part] });
  }
  const state = { steps: withOptimizer ? adapter.steps : 0, hasOptimizer: withOptimizer };
  return writeSafetensors(tensors, {
    format: FORMAT,
    base: base.hash,
    options: JSON.stringify(options),
    ...stateText(state),
  });
};

const stateText = ({ steps, hasOptimizer }: { readonly steps: number; readonly hasOptimizer: boolean }) => ({
  steps: String(steps),
  hasOptimizer: String(hasOptimizer),
});

const readOptions = (text: string | undefined): LoraOptions => {
  let options: unknown;
  try {
    options = JSON.parse(text ?? '');
  } catch (cause) {
    throw new EngineError('the options of the saved adapter are not JSON', { cause });
  }
  if (typeof options !== 'object' || options === null)
    throw new EngineError('the saved adapter has no options');
  const { rank, alpha, seed, attention, mlp } = options as Record<keyof LoraOptions, unknown>;
  const made = {
    rank: Number(rank),
    alpha: Number(alpha),
    seed: Number(seed),
    attention: attention === true,
    mlp: mlp === true,
  };
  checkLoraOptions(made);
  return made;
};

const takeTensor = ({ tensors }: Safetensors, name: string, count: number): Float32Array => {
  const values = tensors.get(name)?.values;
  if (values?.length !== count) {
    throw new EngineError(`the saved adapter has ${values?.length ?? 'no'} numbers in ${name}, not ${count}`);
  }
  if (!values.every(Number.isFinite)) throw new EngineError(`${name} holds a number that is not finite`);
  return values;
};

/** Throws an EngineError for bytes that are not an adapter of these weights. */
export const readAdapter = (bytes: Uint8Array, base: Weights, withOptimizer: boolean): Adapter => {
  const file = readTensors(bytes);
  const { format, base: hash, options: text, steps: stepsText, hasOptimizer } = file.metadata;
  if (format !== FORMAT) throw new EngineError('the bytes are not a saved adapter of this engine');
  if (hash !== base.hash) throw new EngineError('the saved adapter was trained on other weights');
  if (withOptimizer && hasOptimizer !== 'true') {
    throw new EngineError('the adapter was saved without its optimizer; load it without');
  }
  const options = readOptions(text);
  const values = new Float32Array(loraSize(base.shape, options));
  for (const piece of loraPieces(base.shape, options)) {
    values.set(takeTensor(file, pieceName(piece, 'A'), options.rank * piece.inputs), piece.a);
    values.set(takeTensor(file, pieceName(piece, 'B'), options.rank * piece.outputs), piece.b);
  }
  const adapter = createAdapter({ options, values });
  if (!withOptimizer) return adapter;
  for (const part of STATE) adapter[part].set(takeTensor(file, stateName(part), values.length));
  const steps = Number(stepsText);
  if (!Number.isSafeInteger(steps) || steps < 0)
    throw new EngineError(`the saved adapter took ${stepsText} steps`);
  adapter.steps = steps;
  return adapter;
};
