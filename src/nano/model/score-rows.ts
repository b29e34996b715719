import { PANEL } from '../kernels/matmul-kernel.ts';
import { applyLinear, type Tape } from './forward.ts';
import { FLOAT, type Machine } from './machine.ts';
import type { Model } from './model.ts';

/** Tokens whose log-probability is asked for, each at a row; a row that several sequences share may have several. */
export interface Asked {
  readonly rows: Int32Array;
  readonly tokens: Int32Array;
}

/** Rows whose logits are held at one time. */
const CHUNK = 64;

/** The places in `asked` for each row. */
const byRow = (asked: Asked, rows: number): readonly (readonly number[])[] => {
  const places: number[][] = Array.from({ length: rows }, () => []);
  asked.rows.forEach((row, place) => {
    places[row]?.push(place);
  });
  return places;
};

/**
 * Tells `hear` the log-probability of each asked token. It answers with the loss's slope along it; with `dHidden` those become
 * the gradient against the hidden states. Takes memory from the machine's arena.
 */
export const scoreRows = (
  machine: Machine,
  model: Model,
  tape: Tape,
  asked: Asked,
  hear: (place: number, logprob: number) => number,
  dHidden?: number,
): void => {
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
  const slopes = new Float64Array(asked.rows.length);
  const places = byRow(asked, tape.rows);

  /** Whether any slope is not zero. */
  const scoreRow = (row: number, here: readonly number[]): boolean => {
    const sum = measures[2 * row + 1] ?? 1;
    const whole = (measures[2 * row] ?? 0) + Math.log(sum);
    let total = 0;
    let isMoved = false;
    for (const place of here) {
      // Rounded as it will be kept, so that a ratio to what the sampler kept is exactly 1 on the same weights.
      const logprob = Math.fround((logits[row * vocabulary + (asked.tokens[place] ?? 0)] ?? 0) - whole);
      const slope = hear(place, logprob);
      slopes[place] = slope;
      total += slope;
      isMoved ||= slope !== 0;
    }
    factors[row] = -total / sum;
    return isMoved;
  };
  /** d loss / d logits = Σ slope · (one-hot - softmax), in the place of the logits. */
  const backward = (first: number, count: number, to: number): void => {
    kernels.exponentiate(logitsAt, measuresAt, factorsAt, logitsAt, count, vocabulary);
    for (let row = 0; row < count; row++) {
      for (const place of places[first + row] ?? []) {
        const at = row * vocabulary + (asked.tokens[place] ?? 0);
        logits[at] = (logits[at] ?? 0) + (slopes[place] ?? 0);
      }
    }
    const steps = [
      vocabulary * FLOAT,
      model.unembedding.backward,
      vocabulary * PANEL * FLOAT,
      to,
      width * FLOAT,
    ];
    kernels.matmul(logitsAt, ...steps, count, vocabulary, width, 0);
  };

  for (let first = 0; first < tape.rows; first += CHUNK) {
    const count = Math.min(CHUNK, tape.rows - first);
    const here = places.slice(first, first + count);
    const back = dHidden === undefined ? undefined : dHidden + first * width * FLOAT;
    let isMoved = false;
    if (here.some(({ length }) => length > 0)) {
      applyLinear(machine, model.unembedding, tape.hidden + first * width * FLOAT, logitsAt, count);
      kernels.measure(logitsAt, measuresAt, count, vocabulary);
      isMoved = here.map((asking, row) => scoreRow(row, asking)).includes(true);
    }
    if (back === undefined) continue;
    if (isMoved) backward(first, count, back);
    else arena.floats(back, count * width).fill(0);
  }
};
