import { PANEL_COLUMNS } from '../kernels/matmul-kernels.ts';
import type { Attention } from './attention.ts';
import type { LoadedModel, PackedLinear } from './loaded-model.ts';
import { FLOAT, type Machine } from './machine.ts';
import type { PrefixSegment, PrefixTreeRows } from './prefix-tree.ts';

/** The activations of a layer that its gradient needs: addresses of one row per token. */
export interface LayerTape {
  readonly x: number;
  readonly attentionFactors: number;
  readonly attentionIn: number;
  readonly qkv: number;
  readonly mixed: number;
  readonly middle: number;
  readonly mlpFactors: number;
  readonly mlpIn: number;
  readonly wide: number;
  readonly act: number;
}

export interface Tape {
  readonly rows: number;
  readonly segments: readonly PrefixSegment[];
  readonly layers: readonly LayerTape[];
  readonly x: number;
  readonly factors: number;
  /** The final hidden states, from which the logits are computed. */
  readonly hidden: number;
}

/** Addresses of the rows that a product reads and writes. */
interface LinearRows {
  readonly x: number;
  readonly y: number;
  readonly rows: number;
  /** y += instead of y =. */
  readonly isAdded?: true;
}

/** y = x·Wᵀ, or y += x·Wᵀ. */
export const applyLinear = (
  { kernels }: Machine,
  { inputs, outputs, forward }: PackedLinear,
  { x, y, rows, isAdded }: LinearRows,
): void => {
  const steps = [inputs * FLOAT, forward, inputs * PANEL_COLUMNS * FLOAT, y, outputs * FLOAT] as const;
  kernels.matmul(x, ...steps, rows, inputs, outputs, isAdded ? 1 : 0);
};

/** Copies the embeddings of these tokens. */
export const lookUp = (model: LoadedModel, tokens: Int32Array, to: number): void => {
  const { arena, shape } = model.machine;
  const bytes = arena.bytes(0, arena.memory.buffer.byteLength);
  const step = shape.width * FLOAT;
  tokens.forEach((token, row) => {
    bytes.copyWithin(to + row * step, model.embedding + token * step, model.embedding + (token + 1) * step);
  });
};

/** Runs the model over all rows. Allocates from the machine's arena: the tape is valid until that is rewound. */
export const runForward = (model: LoadedModel, attention: Attention, rows: PrefixTreeRows): Tape => {
  const { machine } = model;
  const { arena, kernels, shape, head, eps, turns } = machine;
  const { width, heads, inner } = shape;
  const count = rows.tokens.length;
  const take = (columns: number): number => arena.take(count * columns * FLOAT);
  const layers = model.layers.map(() => ({
    x: take(width),
    attentionFactors: take(1),
    attentionIn: take(width),
    qkv: take(3 * width),
    mixed: take(width),
    middle: take(width),
    mlpFactors: take(1),
    mlpIn: take(width),
    wide: take(2 * inner),
    act: take(inner),
  }));
  const last = { x: take(width), factors: take(1), hidden: take(width) };
  const bytes = arena.bytes(0, arena.memory.buffer.byteLength);
  const copy = (from: number, to: number): void => {
    bytes.copyWithin(to, from, from + count * width * FLOAT);
  };

  lookUp(model, rows.tokens, layers[0]?.x ?? last.x);
  model.layers.forEach((layer, index) => {
    const tape = layers[index];
    if (tape === undefined) return;
    kernels.norm(tape.x, layer.attentionNorm, tape.attentionIn, tape.attentionFactors, eps, count, width);
    applyLinear(machine, layer.attention, { x: tape.attentionIn, y: tape.qkv, rows: count });
    for (const { start, length, position } of rows.segments) {
      const [at, table] = [tape.qkv + start * 3 * width * FLOAT, turns + position * head * FLOAT];
      kernels.rotate(at, 3 * width * FLOAT, table, head * FLOAT, length, 2 * heads, head / 2);
    }
    attention.forward(tape.qkv, tape.mixed, rows.segments);
    copy(tape.x, tape.middle);
    applyLinear(machine, layer.attentionOut, { x: tape.mixed, y: tape.middle, rows: count, isAdded: true });
    kernels.norm(tape.middle, layer.mlpNorm, tape.mlpIn, tape.mlpFactors, eps, count, width);
    applyLinear(machine, layer.wide, { x: tape.mlpIn, y: tape.wide, rows: count });
    kernels.gate(tape.wide, tape.act, count, inner);
    const next = layers[index + 1]?.x ?? last.x;
    copy(tape.middle, next);
    applyLinear(machine, layer.down, { x: tape.act, y: next, rows: count, isAdded: true });
  });
  kernels.norm(last.x, model.norm, last.hidden, last.factors, eps, count, width);
  return { rows: count, segments: rows.segments, layers, ...last };
};

/** Tokens whose log-probability is wanted, each at a row. A row that several sequences share may have several tokens. */
interface TokenQuery {
  readonly rows: Int32Array;
  readonly tokens: Int32Array;
  /** Called with the log-probability of each token. Returns the derivative of the loss with respect to that. */
  readonly onLogprob: (place: number, logprob: number) => number;
}

/** Rows whose logits are held at a time. */
const CHUNK = 64;

/** For each row, the indexes into the query. */
const byRow = (query: TokenQuery, rows: number): readonly (readonly number[])[] => {
  const places: number[][] = Array.from({ length: rows }, () => []);
  query.rows.forEach((row, place) => {
    places[row]?.push(place);
  });
  return places;
};

/**
 * Computes the log-probability of each token of the query. With `dHidden`, the derivatives become the gradient of the hidden
 * states there. Allocates from the machine's arena.
 */
export const scoreRows = (model: LoadedModel, tape: Tape, query: TokenQuery, dHidden?: number): void => {
  const { machine } = model;
  const { arena, kernels, shape } = machine;
  const { width, vocabulary } = shape;
  const logitsAt = arena.take(CHUNK * vocabulary * FLOAT);
  const measuresAt = arena.take(CHUNK * 2 * FLOAT);
  const factorsAt = arena.take(CHUNK * FLOAT);
  const [logits, measures] = [
    arena.floats(logitsAt, CHUNK * vocabulary),
    arena.floats(measuresAt, CHUNK * 2),
  ];
  const factors = arena.floats(factorsAt, CHUNK);
  const slopes = new Float64Array(query.rows.length);
  const places = byRow(query, tape.rows);

  /** Whether any derivative is not zero. */
  const scoreRow = (row: number, here: readonly number[]): boolean => {
    const sum = measures[2 * row + 1] ?? 1;
    const whole = (measures[2 * row] ?? 0) + Math.log(sum);
    let total = 0;
    let hasGradient = false;
    for (const place of here) {
      // Rounded to float32 as it is stored, so that the ratio to the sampler's value is exactly 1 on the same weights.
      const logprob = Math.fround((logits[row * vocabulary + (query.tokens[place] ?? 0)] ?? 0) - whole);
      const slope = query.onLogprob(place, logprob);
      slopes[place] = slope;
      total += slope;
      hasGradient ||= slope !== 0;
    }
    factors[row] = -total / sum;
    return hasGradient;
  };
  /** d loss / d logits = Σ slope · (one-hot - softmax), overwriting the logits. */
  const backward = (first: number, count: number, to: number): void => {
    kernels.exponentiate(logitsAt, measuresAt, factorsAt, logitsAt, count, vocabulary);
    for (let row = 0; row < count; row++) {
      for (const place of places[first + row] ?? []) {
        const at = row * vocabulary + (query.tokens[place] ?? 0);
        logits[at] = (logits[at] ?? 0) + (slopes[place] ?? 0);
      }
    }
    const steps = [
      vocabulary * FLOAT,
      model.unembedding.backward,
      vocabulary * PANEL_COLUMNS * FLOAT,
      to,
      width * FLOAT,
    ];
    kernels.matmul(logitsAt, ...steps, count, vocabulary, width, 0);
  };

  for (let first = 0; first < tape.rows; first += CHUNK) {
    const count = Math.min(CHUNK, tape.rows - first);
    const here = places.slice(first, first + count);
    const back = dHidden === undefined ? undefined : dHidden + first * width * FLOAT;
    let hasGradient = false;
    if (here.some(({ length }) => length > 0)) {
      applyLinear(machine, model.unembedding, {
        x: tape.hidden + first * width * FLOAT,
        y: logitsAt,
        rows: count,
      });
      kernels.measure(logitsAt, measuresAt, count, vocabulary);
      hasGradient = here.map((asking, row) => scoreRow(row, asking)).includes(true);
    }
    if (back === undefined) continue;
    if (hasGradient) backward(first, count, back);
    else arena.floats(back, count * width).fill(0);
  }
};
