import { instantiate, type WasmMemory } from '../../base/wasm/arena.ts';
import {
  advance,
  assemble,
  block,
  type Code,
  f32,
  f32x4,
  forLoop,
  i16x8,
  i32,
  i32x4,
  type KernelScope,
  kernel,
  type Local,
  polynomial,
  powerOfTwo,
  reduceFloatLanes,
  v128,
  whileTrue,
} from '../../base/wasm/assembler.ts';

/** The shape of all-MiniLM-L6-v2. */
export const HIDDEN = 384;
export const HEADS = 12;
export const HEAD = HIDDEN / HEADS;
export const INNER = 1536;
export const LAYERS = 6;
export const WORDS = 30_522;
/** Texts are cut after this many tokens, the model's training length. */
export const MAX_TOKENS = 256;

/** Outputs computed side by side; weights are stored in panels of this many. */
export const WEIGHT_PANEL = 8;
/** Rows that share one load of weights. */
const ROWS = 4;
/** Bytes of two 16-bit inputs, which one `dot` takes at a time. */
const PAIR = 4;

type Place = Readonly<
  Record<'x' | 'scale' | 'w' | 'wScale' | 'bias' | 'out' | 'xStride' | 'outStride', Local>
>;

/** A few rows by one panel: integer sums first, then one scaling to floats. */
const rowBlock = (count: number, at: Place, scope: KernelScope): Code => {
  const [k, w, pair] = [scope.i32(), scope.i32(), scope.v128()];
  const columns = Array.from({ length: WEIGHT_PANEL / 4 }, (_, index) => ({ index, weights: scope.v128() }));
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
    forLoop(
      k,
      at.xStride,
      PAIR,
      ...columns.map(({ index, weights }) => weights.set(v128.loadBytes(w, index * 8))),
      ...rows.flatMap(({ x, cells }) => [
        pair.set(v128.loadSplat(x)),
        ...cells.map(({ sum, weights }) => sum.set(i32x4.add(sum, i32x4.dot(pair, weights)))),
        advance(x, PAIR),
      ]),
      advance(w, 2 * WEIGHT_PANEL),
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
const linearKernel = kernel(
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
      forLoop(
        panel,
        p.outputs,
        WEIGHT_PANEL,
        x.set(p.x),
        scale.set(p.scale),
        out.set(p.out),
        left.set(p.rows),
        pass(ROWS),
        pass(1),
        advance(p.w, i32.mul(p.inputs, WEIGHT_PANEL)),
        ...[p.wScale, p.bias, p.out].map((address) => advance(address, 4 * WEIGHT_PANEL)),
      ),
    );
  },
);

/** One row holds query, key and value of all heads. */
const QKV_ROW_BYTES = 3 * HIDDEN * 4;
const OUT_BYTES = HIDDEN * 4;
/** Scores as powers of two, so that softmax needs no further factor. */
const SHARPNESS = Math.LOG2E / Math.sqrt(HEAD);
const FARTHEST = -1e30;

/** One head: out[row] = Σ softmax(query[row] · key[j]) · value[j]. `scores` has room for the tokens and four more. */
const attendKernel = kernel('attend', ['query', 'key', 'value', 'out', 'scores', 'tokens'], (p, scope) => {
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
    forLoop(
      i,
      p.tokens,
      1,
      sum.set(
        lanes
          .map(({ lane, offset }) => f32x4.mul(lane, v128.load(from, offset)))
          .reduce((total, product) => f32x4.add(total, product)),
      ),
      score.set(f32.mul(reduceFloatLanes(f32.add, sum), SHARPNESS)),
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
    share.set(f32.div(1, reduceFloatLanes(f32.add, sum))),
  );
  const mixAll = block(
    ...lanes.map(({ lane }) => lane.set(0)),
    from.set(p.value),
    at.set(p.scores),
    forLoop(
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
    forLoop(
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
});

/** Abramowitz and Stegun 7.1.26: erf(z) = 1 - P(t)·e^(-z²) with t = 1 / (1 + 0.3275911·z), good to 1.5e-7. */
const ERF = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0];
const ERF_T = 0.3275911;

/** x = x · Φ(x). Since x·erf(x) = |x|·erf(|x|), the formula for positive numbers works for all. */
const geluKernel = kernel('gelu', ['x', 'count'], (p, scope) => {
  const i = scope.i32();
  const [x, size, t, tail] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
  return forLoop(
    i,
    p.count,
    4,
    x.set(v128.load(p.x)),
    size.set(f32x4.abs(x)),
    t.set(f32x4.div(1, f32x4.add(1, f32x4.mul(size, ERF_T * Math.SQRT1_2)))),
    tail.set(f32x4.mul(f32x4.mul(x, x), -0.5 * Math.LOG2E)),
    powerOfTwo(tail, scope),
    tail.set(f32x4.mul(polynomial(ERF, t), tail)),
    v128.store(p.x, f32x4.mul(0.5, f32x4.add(x, f32x4.mul(size, f32x4.sub(1, tail))))),
    advance(p.x, 16),
  );
});

const ROW_BYTES = HIDDEN * 4;
const EPSILON = 1e-12;
const SMALLEST = 1.2e-38;
/** Keeps the sign and, from bit 13 on, the exponent and fraction of a half that was widened and shifted. */
const HALF_BITS = 0x8fffe000 | 0;
/** The exponent of a half is biased by 15, that of a float by 127. */
const HALF_BIAS = 2 ** (127 - 15);

/** Half-precision numbers as floats. */
const expandKernel = kernel('expand', ['halves', 'to', 'count'], (p, scope) => {
  const bits = i32x4.shiftLeft(v128.loadShorts(p.halves), 13);
  return forLoop(
    scope.i32(),
    p.count,
    4,
    v128.store(p.to, f32x4.mul(v128.and(bits, i32x4.splat(HALF_BITS)), HALF_BIAS)),
    advance(p.halves, 8),
    advance(p.to, 16),
  );
});

/** Quantises each row to 16-bit integers of at most `limit`, and stores its scale. A row of zeros stays zero. */
const quantizeKernel = kernel('quantize', ['x', 'to', 'scale', 'rows', 'width', 'limit'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [largest, factor] = [scope.v128(), scope.v128()];
  const [peak, limit] = [scope.f32(), scope.f32()];
  const here = i32.add(p.x, i);
  const rounded = (offset: number): Code =>
    i32x4.fromFloat(f32x4.nearest(f32x4.mul(v128.load(here, offset), factor)));
  return block(
    bytes.set(i32.mul(p.width, 4)),
    limit.set(f32.fromInt(p.limit)),
    forLoop(
      row,
      p.rows,
      1,
      largest.set(SMALLEST),
      forLoop(i, bytes, 16, largest.set(f32x4.max(f32x4.abs(v128.load(here)), largest))),
      peak.set(reduceFloatLanes(f32.max, largest)),
      f32.store(p.scale, f32.div(peak, limit)),
      factor.set(f32x4.splat(f32.div(limit, peak))),
      forLoop(i, bytes, 32, v128.store(p.to, i16x8.narrow(rounded(0), rounded(16))), advance(p.to, 16)),
      advance(p.x, bytes),
      advance(p.scale, 4),
    ),
  );
});

/** x = layerNorm(x + added), row by row. */
const addNormKernel = kernel('addNorm', ['x', 'added', 'gain', 'bias', 'rows'], (p, scope) => {
  const [row, i] = [scope.i32(), scope.i32()];
  const [sum, value, mean, factor] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
  const here = i32.add(p.x, i);
  const overRow = (...body: readonly Code[]): Code => forLoop(i, ROW_BYTES, 16, ...body);
  const average = (of: Local): Code => f32.div(reduceFloatLanes(f32.add, of), HIDDEN);
  const scaled = f32x4.mul(f32x4.mul(v128.load(here), factor), v128.load(i32.add(p.gain, i)));
  return forLoop(
    row,
    p.rows,
    1,
    sum.set(0),
    overRow(
      value.set(f32x4.add(v128.load(here), v128.load(i32.add(p.added, i)))),
      sum.set(f32x4.add(sum, value)),
      v128.store(here, value),
    ),
    mean.set(f32x4.splat(average(sum))),
    sum.set(0),
    overRow(
      value.set(f32x4.sub(v128.load(here), mean)),
      sum.set(f32x4.add(sum, f32x4.mul(value, value))),
      v128.store(here, value),
    ),
    factor.set(f32x4.splat(f32.div(1, f32.sqrt(f32.add(average(sum), EPSILON))))),
    overRow(v128.store(here, f32x4.add(scaled, v128.load(i32.add(p.bias, i))))),
    advance(p.x, ROW_BYTES),
    advance(p.added, ROW_BYTES),
  );
});

/** Takes addresses and counts, in the order of the kernel's parameters. */
type Run = (...operands: readonly number[]) => void;
const KERNELS = [
  expandKernel,
  linearKernel,
  quantizeKernel,
  addNormKernel,
  geluKernel,
  attendKernel,
] as const;

/** The compute kernels, working on addresses in the given memory. */
export interface MiniLmKernels {
  readonly expand: Run;
  readonly linear: Run;
  readonly quantize: Run;
  readonly addNorm: Run;
  readonly gelu: Run;
  readonly attend: Run;
}

export const createMiniLmKernels = (memory: WasmMemory): MiniLmKernels =>
  instantiate(assemble(KERNELS), memory) as MiniLmKernels;
