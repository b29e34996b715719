import { advance, countUp, f32x4, kernel, v128 } from '../../wasm/assembler.ts';

/** to += from; `count` is a multiple of four. */
export const addKernel = kernel('add', ['to', 'from', 'count'], (p, scope) =>
  countUp(
    scope.i32(),
    p.count,
    4,
    v128.store(p.to, f32x4.add(v128.load(p.to), v128.load(p.from))),
    advance(p.to, 16),
    advance(p.from, 16),
  ),
);
