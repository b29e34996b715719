import { assemble } from '../../../wasm/assembler.ts';
import { instantiate, type Memory } from '../../../wasm/web-assembly.ts';
import { attendKernel } from './attention-kernel.ts';
import { geluKernel } from './gelu-kernel.ts';
import { linearKernel } from './linear-kernel.ts';
import { addNormKernel, expandKernel, quantizeKernel } from './row-kernels.ts';

/** Takes addresses and counts, in the order of the kernel's parameters. */
type Run = (...operands: readonly number[]) => void;
const KERNELS = [
  expandKernel,
  linearKernel,
  quantizeKernel,
  addNormKernel,
  geluKernel,
  attendKernel,
] as const;

/** The compute kernels, working on addresses in the given memory. */
export interface Kernels {
  readonly expand: Run;
  readonly linear: Run;
  readonly quantize: Run;
  readonly addNorm: Run;
  readonly gelu: Run;
  readonly attend: Run;
}

export const createKernels = (memory: Memory): Kernels => instantiate(assemble(KERNELS), memory) as Kernels;
