import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createArena, instantiate } from '../../../src/base/wasm/arena.ts';
import {
  advance,
  assemble,
  block,
  f32,
  f32x4,
  forLoop,
  i32,
  ifElse,
  kernel,
  powerOfTwo,
  v128,
  whileTrue,
} from '../../../src/base/wasm/assembler.ts';

const fillKernel = kernel('fill', ['to', 'count'], (p, scope) => {
  const [i, value] = [scope.i32(), scope.f32()];
  return forLoop(
    i,
    p.count,
    1,
    ifElse(i32.lessThan(i, 3), value.set(1.5), value.set(f32.fromInt(i))),
    f32.store(p.to, value),
    advance(p.to, 4),
  );
});
const doubleKernel = kernel('double', ['x', 'end'], (p, scope) => {
  const value = scope.v128();
  return whileTrue(
    i32.lessThan(p.x, p.end),
    block(value.set(v128.load(p.x)), v128.store(p.x, f32x4.add(value, value))),
    advance(p.x, 16),
  );
});
const raiseKernel = kernel('raise', ['x'], (p, scope) => {
  const value = scope.v128();
  return block(value.set(v128.load(p.x)), powerOfTwo(value, scope), v128.store(p.x, value));
});

const arena = createArena();
const kernels = instantiate(assemble([fillKernel, doubleKernel, raiseKernel]), arena.memory) as Record<
  string,
  (...operands: readonly number[]) => void
>;

describe('assembled kernels', () => {
  it('count, choose and store', () => {
    const to = arena.take(5 * 4);
    kernels.fill?.(to, 5);
    expect([...arena.floats(to, 5)]).toEqual([1.5, 1.5, 1.5, 3, 4]);
  });

  it('run a loop while its condition holds, which may be never', () => {
    const x = arena.take(8 * 4);
    arena.floats(x, 8).fill(3);
    kernels.double?.(x, x);
    kernels.double?.(x, x + 16);
    expect([...arena.floats(x, 8)]).toEqual([6, 6, 6, 6, 3, 3, 3, 3]);
  });

  it('raise two to any power within a few units of the last place', () => {
    const x = arena.take(16);
    fc.assert(
      fc.property(fc.float({ min: -126, max: 127, noNaN: true }), (power) => {
        arena.floats(x, 4).fill(power);
        kernels.raise?.(x);
        for (const value of arena.floats(x, 4))
          expect(Math.abs(value / 2 ** Math.fround(power) - 1)).toBeLessThan(5e-7);
      }),
    );
  });
});

describe('an arena', () => {
  it('allocates memory that does not overlap, and the same again after a rewind', () => {
    const own = createArena();
    const [a, b] = [own.take(5), own.take(200_000)];
    expect(b).toBeGreaterThanOrEqual(a + 5);
    expect(own.memory.buffer.byteLength).toBeGreaterThanOrEqual(b + 200_000);
    const mark = own.mark();
    const [c, d] = [own.take(10), own.take(10)];
    own.ints(c, 1)[0] = 7;
    own.rewind(mark);
    expect([own.take(10), own.take(10)]).toEqual([c, d]);
    expect(own.ints(c, 1)[0]).toBe(7);
  });
});
