import { assemble } from '../../wasm/assembler.ts';
import { instantiate, type Memory } from '../../wasm/web-assembly.ts';
import { addKernel } from './add-kernel.ts';
import { addOuterKernel } from './add-outer-kernel.ts';
import { softenBackKernel, softenKernel } from './attention-kernels.ts';
import { gateBackKernel, gateKernel } from './gate-kernels.ts';
import { exponentiateKernel, measureKernel } from './logit-kernels.ts';
import { matmulKernel } from './matmul-kernel.ts';
import { normBackKernel, normKernel } from './norm-kernels.ts';
import { packKernel } from './pack-kernel.ts';
import { rotateKernel } from './rotate-kernel.ts';

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
type Run = (...operands: readonly number[]) => void;

/** The compute kernels of the engine, on addresses in one memory. */
export type Kernels = Readonly<
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
    Run
  >
>;

export const createKernels = (memory: Memory): Kernels => instantiate(assemble(KERNELS), memory) as Kernels;
