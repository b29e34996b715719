import type { Local, Scope } from '../../../wasm/assembler.ts';
import {
  advance,
  block,
  type Code,
  countUp,
  f32x4,
  i32,
  i32x4,
  kernel,
  v128,
  whileTrue,
} from '../../../wasm/assembler.ts';

/** Outputs computed side by side; weights are stored in panels of this many. */
export const PANEL = 8;
/** Rows that share one load of weights. */
const ROWS = 4;
/** Bytes of two 16-bit inputs, which one `dot` takes at a time. */
const PAIR = 4;

type Place = Readonly<
  Record<'x' | 'scale' | 'w' | 'wScale' | 'bias' | 'out' | 'xStride' | 'outStride', Local>
>;

/** A few rows by one panel: integer sums first, then one scaling to floats. */
const rowBlock = (count: number, at: Place, scope: Scope): Code => {
  const [k, w, pair] = [scope.i32(), scope.i32(), scope.v128()];
  const columns = Array.from({ length: PANEL / 4 }, (_, index) => ({ index, weights: scope.v128() }));
  const rows = Array.from({ length: count }, (_, row) => ({
    row,
    x: scope.i32(),
    out: scope.i32(),
    cells: columns.map((column) => ({ ...column, sum: scope.v128() })),
  }));
  return block(
    w.set(at.w),
    ...rows.flatMap(({ row, x, out, cells }) => [
      x.set(i32.add(at.x, i32.mul(at.xStride, row))),
      out.set(i32.add(at.out, i32.mul(at.outStride, row))),
      ...cells.map(({ sum }) => sum.set(0)),
    ]),
    // Not unrolled: V8 moves all loads of a loop body to its front, and more of them do not fit the registers.
    countUp(
      k,
      at.xStride,
      PAIR,
      ...columns.map(({ index, weights }) => weights.set(v128.loadBytes(w, index * 8))),
      ...rows.flatMap(({ x, cells }) => [
        pair.set(v128.loadSplat(x)),
        ...cells.map(({ sum, weights }) => sum.set(i32x4.add(sum, i32x4.dot(pair, weights)))),
        advance(x, PAIR),
      ]),
      advance(w, 2 * PANEL),
    ),
    ...rows.flatMap(({ row, out, cells }) =>
      cells.map(({ index, sum }) => {
        const scaled = f32x4.mul(f32x4.fromInt(sum), v128.load(at.wScale, index * 16));
        const product = f32x4.mul(scaled, v128.loadSplat(at.scale, row * 4));
        return v128.store(out, f32x4.add(product, v128.load(at.bias, index * 16)), index * 16);
      }),
    ),
  );
};

/**
 * out[row][n] = bias[n] + wScale[n] · scale[row] · Σ x[row][k] · w[n][k], for 16-bit x and 8-bit w.
 * A panel of weights stays in the L1 cache while all rows are multiplied with it.
 */
export const linearKernel = kernel(
  'linear',
  ['x', 'scale', 'w', 'wScale', 'bias', 'out', 'rows', 'inputs', 'outputs'],
  (p, scope) => {
    const [panel, left] = [scope.i32(), scope.i32()];
    const [x, scale, out] = [scope.i32(), scope.i32(), scope.i32()];
    const [xStride, outStride] = [scope.i32(), scope.i32()];
    const place = { ...p, x, scale, out, xStride, outStride };
    const pass = (rows: number): Code =>
      whileTrue(
        i32.lessThan(rows - 1, left),
        rowBlock(rows, place, scope),
        advance(x, i32.mul(xStride, rows)),
        advance(out, i32.mul(outStride, rows)),
        advance(scale, 4 * rows),
        advance(left, -rows),
      );
    return block(
      xStride.set(i32.mul(p.inputs, 2)),
      outStride.set(i32.mul(p.outputs, 4)),
      countUp(
        panel,
        p.outputs,
        PANEL,
        x.set(p.x),
        scale.set(p.scale),
        out.set(p.out),
        left.set(p.rows),
        pass(ROWS),
        pass(1),
        advance(p.w, i32.mul(p.inputs, PANEL)),
        ...[p.wScale, p.bias, p.out].map((address) => advance(address, 4 * PANEL)),
      ),
    );
  },
);
