import { instantiate, type WasmMemory } from '../../../src/base/wasm/arena.ts';
import { assemble } from '../../../src/base/wasm/assembler.ts';
import { rotateKernel, softenBackKernel, softenKernel } from './attention-kernels.ts';
import { addKernel, addOuterKernel, matmulKernel, packKernel } from './matmul-kernels.ts';
import {
  exponentiateKernel,
  gateBackKernel,
  gateKernel,
  measureKernel,
  normBackKernel,
  normKernel,
} from './row-kernels.ts';

const KERNELS = [
  addKernel,
  addOuterKernel,
  exponentiateKernel,
  gateBackKernel,
  gateKernel,
  matmulKernel,
  measureKernel,
  normBackKernel,
  normKernel,
  packKernel,
  rotateKernel,
  softenBackKernel,
  softenKernel,
] as const;

/** Takes addresses and counts, as the kernel's definition names them. No count may be 0. */
type RunKernel = (...operands: readonly number[]) => void;

/** The compute kernels of the engine, on addresses in one memory. */
export type NanoKernels = Readonly<
  Record<
    | 'add'
    | 'addOuter'
    | 'exponentiate'
    | 'gate'
    | 'gateBack'
    | 'matmul'
    | 'measure'
    | 'norm'
    | 'normBack'
    | 'pack'
    | 'rotate'
    | 'soften'
    | 'softenBack',
    RunKernel
  >
>;

export const createNanoKernels = (memory: WasmMemory): NanoKernels =>
  instantiate(assemble(KERNELS), memory) as NanoKernels;
