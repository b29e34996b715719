import {
  advance,
  block,
  type Code,
  choose,
  countUp,
  f32x4,
  i32,
  kernel,
  type Local,
  type Scope,
  v128,
  whileTrue,
} from '../../wasm/assembler.ts';

/** The right-hand matrix is packed in panels of this many columns. */
export const PANEL = 8;
/** Rows that share one load of a panel: 4 × 8 sums and their operands fill the sixteen vector registers. */
const ROWS = 4;
/** Steps along the sum in one iteration of the loop. */
const UNROLL = 2;

type Place = Readonly<Record<'x' | 'xStep' | 'w' | 'out' | 'outStep' | 'inputs' | 'isAdded', Local>>;

const rowBlock = (count: number, at: Place, scope: Scope): Code => {
  const [k, w, value] = [scope.i32(), scope.i32(), scope.v128()];
  const columns = Array.from({ length: PANEL / 4 }, (_, index) => ({ index, weights: scope.v128() }));
  const rows = Array.from({ length: count }, (_, row) => ({
    row,
    x: scope.i32(),
    out: scope.i32(),
    cells: columns.map((column) => ({ ...column, sum: scope.v128() })),
  }));
  const cells = rows.flatMap(({ out, cells }) => cells.map((cell) => ({ ...cell, out })));
  const step = (index: number): Code =>
    block(
      ...columns.map((column) => column.weights.set(v128.load(w, index * PANEL * 4 + column.index * 16))),
      ...rows.flatMap(({ x, cells }) => [
        value.set(v128.loadSplat(x, index * 4)),
        ...cells.map(({ sum, weights }) => sum.set(f32x4.add(sum, f32x4.mul(value, weights)))),
      ]),
    );
  return block(
    w.set(at.w),
    ...rows.flatMap(({ row, x, out }) => [
      x.set(i32.add(at.x, i32.mul(at.xStep, row))),
      out.set(i32.add(at.out, i32.mul(at.outStep, row))),
    ]),
    choose(
      at.isAdded,
      block(...cells.map(({ sum, out, index }) => sum.set(v128.load(out, index * 16)))),
      block(...cells.map(({ sum }) => sum.set(0))),
    ),
    countUp(
      k,
      at.inputs,
      UNROLL,
      ...Array.from({ length: UNROLL }, (_, index) => step(index)),
      ...rows.map(({ x }) => advance(x, 4 * UNROLL)),
      advance(w, PANEL * 4 * UNROLL),
    ),
    ...cells.map(({ sum, out, index }) => v128.store(out, sum, index * 16)),
  );
};

/**
 * out[m][n] = Σ x[m][k] · w[n][k], or the same added to `out`; w in the layout of `pack`, `panelStep` bytes between panels.
 * Each sum runs over k in order, so that a row has the same bits whatever other rows are computed with it.
 * `inputs` is a multiple of four, `outputs` of eight.
 */
export const matmulKernel = kernel(
  'matmul',
  ['x', 'xStep', 'w', 'panelStep', 'out', 'outStep', 'rows', 'inputs', 'outputs', 'isAdded'],
  (p, scope) => {
    const [column, left, x, out] = [scope.i32(), scope.i32(), scope.i32(), scope.i32()];
    const place = { ...p, x, out };
    const pass = (rows: number): Code =>
      whileTrue(
        i32.lessThan(rows - 1, left),
        rowBlock(rows, place, scope),
        advance(x, i32.mul(p.xStep, rows)),
        advance(out, i32.mul(p.outStep, rows)),
        advance(left, -rows),
      );
    return countUp(
      column,
      p.outputs,
      PANEL,
      x.set(p.x),
      out.set(p.out),
      left.set(p.rows),
      pass(ROWS),
      pass(1),
      advance(p.w, p.panelStep),
      advance(p.out, PANEL * 4),
    );
  },
);
