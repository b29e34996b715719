import {
  advance,
  block,
  type Code,
  f32,
  f32x4,
  forLoop,
  i32,
  ifElse,
  type KernelScope,
  kernel,
  type Local,
  v128,
  whileTrue,
} from '../../../src/base/wasm/assembler.ts';

/** The right-hand matrix is packed in panels of this many columns. */
export const PANEL_COLUMNS = 8;
/** Rows that share one load of a panel: 4 × 8 sums and their operands fill the sixteen vector registers. */
const ROWS = 4;
/** Steps along the sum in one iteration of the loop. */
const UNROLL = 2;

type MatmulPlace = Readonly<Record<'x' | 'xStep' | 'w' | 'out' | 'outStep' | 'inputs' | 'isAdded', Local>>;

const rowBlock = (count: number, at: MatmulPlace, scope: KernelScope): Code => {
  const [k, w, value] = [scope.i32(), scope.i32(), scope.v128()];
  const columns = Array.from({ length: PANEL_COLUMNS / 4 }, (_, index) => ({ index, weights: scope.v128() }));
  const rows = Array.from({ length: count }, (_, row) => ({
    row,
    x: scope.i32(),
    out: scope.i32(),
    cells: columns.map((column) => ({ ...column, sum: scope.v128() })),
  }));
  const cells = rows.flatMap(({ out, cells }) => cells.map((cell) => ({ ...cell, out })));
  const step = (index: number): Code =>
    block(
      ...columns.map((column) =>
        column.weights.set(v128.load(w, index * PANEL_COLUMNS * 4 + column.index * 16)),
      ),
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
    ifElse(
      at.isAdded,
      block(...cells.map(({ sum, out, index }) => sum.set(v128.load(out, index * 16)))),
      block(...cells.map(({ sum }) => sum.set(0))),
    ),
    forLoop(
      k,
      at.inputs,
      UNROLL,
      ...Array.from({ length: UNROLL }, (_, index) => step(index)),
      ...rows.map(({ x }) => advance(x, 4 * UNROLL)),
      advance(w, PANEL_COLUMNS * 4 * UNROLL),
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
    return forLoop(
      column,
      p.outputs,
      PANEL_COLUMNS,
      x.set(p.x),
      out.set(p.out),
      left.set(p.rows),
      pass(ROWS),
      pass(1),
      advance(p.w, p.panelStep),
      advance(p.out, PANEL_COLUMNS * 4),
    );
  },
);

/**
 * Packs a matrix for `matmul`: panels of eight outputs, input by input. Element (n, k) is read from
 * `from + n·rowStep + k·columnStep`, so that the same kernel packs a matrix and its transpose. The last panel is padded with
 * zeros.
 */
export const packKernel = kernel(
  'pack',
  ['from', 'rowStep', 'columnStep', 'to', 'panelStep', 'outputs', 'inputs'],
  (p, scope) => {
    const [panel, lane, k, left] = [scope.i32(), scope.i32(), scope.i32(), scope.i32()];
    const [from, to, zero] = [scope.i32(), scope.i32(), scope.f32()];
    return block(
      left.set(p.outputs),
      forLoop(
        panel,
        p.outputs,
        PANEL_COLUMNS,
        forLoop(
          lane,
          PANEL_COLUMNS * 4,
          4,
          from.set(p.from),
          to.set(i32.add(p.to, lane)),
          ifElse(
            left,
            block(
              forLoop(
                k,
                p.inputs,
                1,
                f32.store(to, f32.load(from)),
                advance(from, p.columnStep),
                advance(to, PANEL_COLUMNS * 4),
              ),
              advance(left, -1),
            ),
            forLoop(k, p.inputs, 1, f32.store(to, zero), advance(to, PANEL_COLUMNS * 4)),
          ),
          advance(p.from, p.rowStep),
        ),
        advance(p.to, p.panelStep),
      ),
    );
  },
);

const LEFT = 4;
const RIGHT = 8;

/**
 * out[i][j] += Σ a[m][i] · b[m][j] over the rows m: the gradient of a weight from its inputs and output gradients.
 * `left`, the columns of a, is a multiple of four; `right`, those of b, of eight. Steps are bytes between rows.
 */
export const addOuterKernel = kernel(
  'addOuter',
  ['a', 'aStep', 'b', 'bStep', 'out', 'outStep', 'rows', 'left', 'right'],
  (p, scope) => {
    const [i, j, m] = [scope.i32(), scope.i32(), scope.i32()];
    const [a, b, column, out, value] = [scope.i32(), scope.i32(), scope.i32(), scope.i32(), scope.v128()];
    const columns = Array.from({ length: RIGHT / 4 }, (_, index) => ({ index, part: scope.v128() }));
    const lines = Array.from({ length: LEFT }, (_, line) => ({
      line,
      cells: columns.map((column) => ({ ...column, sum: scope.v128() })),
    }));
    const eachLine = (body: (line: (typeof lines)[number]) => readonly Code[]) =>
      block(out.set(column), ...lines.flatMap((line) => [...body(line), advance(out, p.outStep)]));
    return forLoop(
      i,
      p.left,
      LEFT,
      column.set(p.out),
      forLoop(
        j,
        p.right,
        RIGHT,
        a.set(p.a),
        b.set(p.b),
        advance(b, i32.mul(j, 4)),
        eachLine(({ cells }) => cells.map(({ sum, index }) => sum.set(v128.load(out, index * 16)))),
        forLoop(
          m,
          p.rows,
          1,
          ...columns.map(({ part, index }) => part.set(v128.load(b, index * 16))),
          ...lines.flatMap(({ line, cells }) => [
            value.set(v128.loadSplat(a, line * 4)),
            ...cells.map(({ sum, part }) => sum.set(f32x4.add(sum, f32x4.mul(value, part)))),
          ]),
          advance(a, p.aStep),
          advance(b, p.bStep),
        ),
        eachLine(({ cells }) => cells.map(({ sum, index }) => v128.store(out, sum, index * 16))),
        advance(column, RIGHT * 4),
      ),
      advance(p.a, LEFT * 4),
      advance(p.out, i32.mul(p.outStep, LEFT)),
    );
  },
);

/** to += from; `count` is a multiple of four. */
export const addKernel = kernel('add', ['to', 'from', 'count'], (p, scope) =>
  forLoop(
    scope.i32(),
    p.count,
    4,
    v128.store(p.to, f32x4.add(v128.load(p.to), v128.load(p.from))),
    advance(p.to, 16),
    advance(p.from, 16),
  ),
);
