import { advance, block, countUp, f32x4, i32, kernel, v128 } from '../../wasm/assembler.ts';

/**
 * Rotary position embedding: rotates each head's pairs (d, d + half) by the angle of its row's position. A row of the table has
 * `half` cosines, then `half` sines; negated sines give the inverse rotation. `half` is a multiple of four.
 */
export const rotateKernel = kernel(
  'rotate',
  ['x', 'xStep', 'table', 'tableStep', 'rows', 'heads', 'half'],
  (p, scope) => {
    const [row, head, i, bytes] = [scope.i32(), scope.i32(), scope.i32(), scope.i32()];
    const [low, high] = [scope.i32(), scope.i32()];
    const [a, b, cosine, sine] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
    return block(
      bytes.set(i32.mul(p.half, 4)),
      countUp(
        row,
        p.rows,
        1,
        low.set(p.x),
        countUp(
          head,
          p.heads,
          1,
          high.set(i32.add(low, bytes)),
          countUp(
            i,
            bytes,
            16,
            cosine.set(v128.load(i32.add(p.table, i))),
            sine.set(v128.load(i32.add(i32.add(p.table, bytes), i))),
            a.set(v128.load(i32.add(low, i))),
            b.set(v128.load(i32.add(high, i))),
            v128.store(i32.add(low, i), f32x4.sub(f32x4.mul(a, cosine), f32x4.mul(b, sine))),
            v128.store(i32.add(high, i), f32x4.add(f32x4.mul(b, cosine), f32x4.mul(a, sine))),
          ),
          low.set(i32.add(high, bytes)),
        ),
        advance(p.x, p.xStep),
        advance(p.table, p.tableStep),
      ),
    );
  },
);
