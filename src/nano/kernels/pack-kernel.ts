import { advance, block, choose, countUp, f32, i32, kernel } from '../../wasm/assembler.ts';
import { PANEL } from './matmul-kernel.ts';

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
      countUp(
        panel,
        p.outputs,
        PANEL,
        countUp(
          lane,
          PANEL * 4,
          4,
          from.set(p.from),
          to.set(i32.add(p.to, lane)),
          choose(
            left,
            block(
              countUp(
                k,
                p.inputs,
                1,
                f32.store(to, f32.load(from)),
                advance(from, p.columnStep),
                advance(to, PANEL * 4),
              ),
              advance(left, -1),
            ),
            countUp(k, p.inputs, 1, f32.store(to, zero), advance(to, PANEL * 4)),
          ),
          advance(p.from, p.rowStep),
        ),
        advance(p.to, p.panelStep),
      ),
    );
  },
);
