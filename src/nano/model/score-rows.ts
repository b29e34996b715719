import { PANEL } from '../kernels/matmul-kernel.ts';
import { applyLinear, type Tape } from './forward.ts';
import { FLOAT, type Machine } from './machine.ts';
import type { Model } from './model.ts';

/** Tokens whose log-probability is wanted, each at a row. A row that several sequences share may have several tokens. */
export interface Asked {
  readonly rows: Int32Array;
  readonly tokens: Int32Array;
}

/** Rows whose logits are held at a time. */
const CHUNK = 64;

/** For each row, the indexes into `asked`. */
const byRow = (asked: Asked, rows: number): readonly (readonly number[])[] => {
  const places: number[][] = Array.from({ length: rows }, () => []);
  asked.rows.forEach((row, place) => {
    places[row]?.push(place);
  });
  return places;
};

/**
 * Calls `onLogprob` with the log-probability of each token asked for. It returns the derivative of the loss with respect to
 * that; with `dHidden` these become the gradient of the hidden states. Allocates from the machine's arena.
 */
export const scoreRows = (
  machine: Machine,
  model: Model,
  tape: Tape,
  asked: Asked,
  onLogprob: (place: number, logprob: number) => number,
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

  /** Whether any derivative is not zero. */
  const scoreRow = (row: number, here: readonly number[]): boolean => {
    const sum = measures[2 * row + 1] ?? 1;
    const whole = (measures[2 * row] ?? 0) + Math.log(sum);
    let total = 0;
    let hasGradient = false;
    for (const place of here) {
      // Rounded to float32 as it is stored, so that the ratio to the sampler's value is exactly 1 on the same weights.
      const logprob = Math.fround((logits[row * vocabulary + (asked.tokens[place] ?? 0)] ?? 0) - whole);
      const slope = onLogprob(place, logprob);
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
    let hasGradient = false;
    if (here.some(({ length }) => length > 0)) {
      applyLinear(machine, model.unembedding, tape.hidden + first * width * FLOAT, logitsAt, count);
      kernels.measure(logitsAt, measuresAt, count, vocabulary);
      hasGradient = here.map((asking, row) => scoreRow(row, asking)).includes(true);
    }
    if (back === undefined) continue;
    if (hasGradient) backward(first, count, back);
    else arena.floats(back, count * width).fill(0);
  }
};
