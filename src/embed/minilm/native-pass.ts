import { createRequire } from 'node:module';
import { insideAddon } from '../../base/sqlite-gate.ts';
import type { Arena } from '../../base/wasm/arena.ts';
import { HIDDEN, MAX_TOKENS } from './kernels.ts';
import { encoderGraph, GRAPH } from './native-graph.ts';
import type { EncoderWeights } from './weights.ts';

/** The parts of onnxruntime-node that are used. Its own `run` waits for a timer; the addon below it answers at once. */
interface Addon {
  readonly version: string;
  readonly Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => FloatTensor;
  readonly InferenceSession: new () => Session;
}

interface FloatTensor {
  readonly data: Float32Array;
}

interface Session {
  loadModel(buffer: ArrayBufferLike, from: number, length: number, options: object): void;
  run(
    inputs: Readonly<Record<string, FloatTensor>>,
    outputs: Readonly<Record<string, null>>,
    options: object,
  ): Readonly<Record<string, FloatTensor>>;
}

const PACKAGE = 'onnxruntime-node';
/** One thread: a text on two cores is finished sooner and costs more. */
const OPTIONS = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  enableCpuMemArena: false,
};

/** Undefined where the package is not installed; throws where it is, and does not work. */
function openAddon(): Addon | undefined {
  const load = createRequire(import.meta.url);
  try {
    load.resolve(PACKAGE);
  } catch {
    return undefined;
  }
  const { Tensor } = load(PACKAGE);
  const { binding, initOrt } = load(`${PACKAGE}/dist/binding.js`);
  initOrt();
  const { version } = load(`${PACKAGE}/package.json`);
  return { version, Tensor, InferenceSession: binding.InferenceSession };
}

export interface EncoderPass {
  /** The address of the input, one row of HIDDEN floats per token; `run` leaves the states of the last layer there. */
  readonly states: number;
  /** `wanted`: of the rows before this one only the first is needed; the others keep the states of the layer before. */
  run(rows: number, wanted?: number): void;
}

export interface EngineName {
  /** For people: "onnxruntime-node 1.30.0". */
  readonly engine: string;
  /** Why onnxruntime-node, which is installed, does not compute. */
  readonly problem?: string;
}

export const OWN_ENGINE = 'WebAssembly';

/** Without `why` it is not installed, and nobody misses it. */
type NativePass =
  | { readonly ok: true; readonly pass: EncoderPass & EngineName }
  | { readonly ok: false; readonly why?: string };

/**
 * The pass on onnxruntime-node, where a user has installed it: a third of the CPU. The same weights and the same 16 bits of input, so
 * that vectors are the same up to rounding (cosine above .9999, below the 8 bits in which they are kept): an index may hold both.
 */
export function createNativePass(arena: Arena, weights: EncoderWeights): NativePass {
  try {
    const addon = insideAddon(openAddon);
    if (addon === undefined) return { ok: false };
    const { version, Tensor, InferenceSession } = addon;
    const { buffer, byteOffset, byteLength } = encoderGraph(arena, weights);
    const session = insideAddon(() => {
      const opened = new InferenceSession();
      opened.loadModel(buffer, byteOffset, byteLength, OPTIONS);
      return opened;
    });
    const states = arena.take(MAX_TOKENS * HIDDEN * Float32Array.BYTES_PER_ELEMENT);
    const run = (rows: number): void => {
      const tensorAt = (address: number): FloatTensor =>
        new Tensor('float32', arena.floats(address, rows * HIDDEN), [1, rows, HIDDEN]);
      const inputs = { [GRAPH.states]: tensorAt(states), [GRAPH.positions]: tensorAt(weights.positions) };
      const { [GRAPH.output]: output } = insideAddon(() => session.run(inputs, { [GRAPH.output]: null }, {}));
      if (output !== undefined) arena.floats(states, rows * HIDDEN).set(output.data);
    };
    run(1);
    return { ok: true, pass: { engine: `${PACKAGE} ${version}`, states, run } };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      why: `${PACKAGE} is installed and does not work, so that sentences are read on ${OWN_ENGINE}: ${why}`,
    };
  }
}
