import { advance, block, type Code, countUp, f32x4, i32, kernel, v128 } from '../../wasm/assembler.ts';

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
    return countUp(
      i,
      p.left,
      LEFT,
      column.set(p.out),
      countUp(
        j,
        p.right,
        RIGHT,
        a.set(p.a),
        b.set(p.b),
        advance(b, i32.mul(j, 4)),
        eachLine(({ cells }) => cells.map(({ sum, index }) => sum.set(v128.load(out, index * 16)))),
        countUp(
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
