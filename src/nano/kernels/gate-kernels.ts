import {
  advance,
  block,
  type Code,
  countUp,
  f32x4,
  i32,
  kernel,
  type Local,
  type Scope,
  v128,
} from '../../wasm/assembler.ts';
import { powerOfTwo } from '../../wasm/exponential.ts';

/** Beyond this the sigmoid is 0 within float precision, and 2^x would overflow. */
const HIGHEST_POWER = 126;

/** share = 1 / (1 + e^-gate). */
const sigmoid = (share: Local, gate: Local, scope: Scope): Code =>
  block(
    share.set(f32x4.min(HIGHEST_POWER, f32x4.mul(gate, -Math.LOG2E))),
    powerOfTwo(share, scope),
    share.set(f32x4.div(1, f32x4.add(1, share))),
  );

/** SwiGLU. A row of x has `inner` gates, then `inner` values; out = gate · sigmoid(gate) · value. */
export const gateKernel = kernel('gate', ['x', 'out', 'rows', 'inner'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [gate, share] = [scope.v128(), scope.v128()];
  return block(
    bytes.set(i32.mul(p.inner, 4)),
    countUp(
      row,
      p.rows,
      1,
      countUp(
        i,
        bytes,
        16,
        gate.set(v128.load(p.x)),
        sigmoid(share, gate, scope),
        v128.store(p.out, f32x4.mul(f32x4.mul(gate, share), v128.load(i32.add(p.x, bytes)))),
        advance(p.x, 16),
        advance(p.out, 16),
      ),
      advance(p.x, bytes),
    ),
  );
});

/** The gradient of `gate`: dx, in the layout of x, from `back`, the gradient of its output. */
export const gateBackKernel = kernel('gateBack', ['x', 'back', 'dx', 'rows', 'inner'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [gate, share, back, slope] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
  return block(
    bytes.set(i32.mul(p.inner, 4)),
    countUp(
      row,
      p.rows,
      1,
      countUp(
        i,
        bytes,
        16,
        gate.set(v128.load(p.x)),
        sigmoid(share, gate, scope),
        back.set(v128.load(p.back)),
        slope.set(f32x4.mul(share, f32x4.add(1, f32x4.mul(gate, f32x4.sub(1, share))))),
        v128.store(p.dx, f32x4.mul(f32x4.mul(back, v128.load(i32.add(p.x, bytes))), slope)),
        v128.store(i32.add(p.dx, bytes), f32x4.mul(f32x4.mul(back, gate), share)),
        ...[p.x, p.back, p.dx].map((address) => advance(address, 16)),
      ),
      advance(p.x, bytes),
      advance(p.dx, bytes),
    ),
  );
});
