import {
  advance,
  block,
  countUp,
  f32,
  f32x4,
  i32,
  joinLanes,
  kernel,
  v128,
  whileTrue,
} from '../../../wasm/assembler.ts';
import { powerOfTwo } from '../../../wasm/exponential.ts';
import { HEAD, HIDDEN } from './shape.ts';

/** One row holds query, key and value of all heads. */
const QKV_ROW_BYTES = 3 * HIDDEN * 4;
const OUT_BYTES = HIDDEN * 4;
/** Scores as powers of two, so that softmax needs no further factor. */
const SHARPNESS = Math.LOG2E / Math.sqrt(HEAD);
const FARTHEST = -1e30;

/** One head: out[row] = Σ softmax(query[row] · key[j]) · value[j]. `scores` has room for the tokens and four more. */
export const attendKernel = kernel(
  'attend',
  ['query', 'key', 'value', 'out', 'scores', 'tokens'],
  (p, scope) => {
    const [row, i, from, at, end] = [scope.i32(), scope.i32(), scope.i32(), scope.i32(), scope.i32()];
    const lanes = Array.from({ length: HEAD / 4 }, (_, index) => ({
      offset: index * 16,
      lane: scope.v128(),
    }));
    const [sum, weight] = [scope.v128(), scope.v128()];
    const [score, best, share] = [scope.f32(), scope.f32(), scope.f32()];

    const scoreAll = block(
      ...lanes.map(({ lane, offset }) => lane.set(v128.load(p.query, offset))),
      from.set(p.key),
      at.set(p.scores),
      best.set(FARTHEST),
      countUp(
        i,
        p.tokens,
        1,
        sum.set(
          lanes
            .map(({ lane, offset }) => f32x4.mul(lane, v128.load(from, offset)))
            .reduce((total, product) => f32x4.add(total, product)),
        ),
        score.set(f32.mul(joinLanes(f32.add, sum), SHARPNESS)),
        best.set(f32.max(best, score)),
        f32.store(at, score),
        advance(from, QKV_ROW_BYTES),
        advance(at, 4),
      ),
      // Lanes after the last token must not count in the sum.
      weight.set(FARTHEST),
      v128.store(at, weight),
    );
    const softenAll = block(
      sum.set(0),
      at.set(p.scores),
      whileTrue(
        i32.lessThan(at, end),
        weight.set(f32x4.sub(v128.load(at), f32x4.splat(best))),
        powerOfTwo(weight, scope),
        v128.store(at, weight),
        sum.set(f32x4.add(sum, weight)),
        advance(at, 16),
      ),
      share.set(f32.div(1, joinLanes(f32.add, sum))),
    );
    const mixAll = block(
      ...lanes.map(({ lane }) => lane.set(0)),
      from.set(p.value),
      at.set(p.scores),
      countUp(
        i,
        p.tokens,
        1,
        weight.set(v128.loadSplat(at)),
        ...lanes.map(({ lane, offset }) =>
          lane.set(f32x4.add(lane, f32x4.mul(weight, v128.load(from, offset)))),
        ),
        advance(from, QKV_ROW_BYTES),
        advance(at, 4),
      ),
      ...lanes.map(({ lane, offset }) => v128.store(p.out, f32x4.mul(lane, f32x4.splat(share)), offset)),
    );
    return block(
      end.set(i32.add(p.scores, i32.mul(p.tokens, 4))),
      countUp(
        row,
        p.tokens,
        1,
        scoreAll,
        softenAll,
        mixAll,
        advance(p.query, QKV_ROW_BYTES),
        advance(p.out, OUT_BYTES),
      ),
    );
  },
);
