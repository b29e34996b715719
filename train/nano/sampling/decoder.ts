import { PANEL_COLUMNS } from '../kernels/matmul-kernels.ts';
import { applyLinear, type LayerTape, lookUp } from '../model/forward.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import { FLOAT, type Machine, padded } from '../model/machine.ts';

const PANEL_STEP = PANEL_COLUMNS * FLOAT;

/**
 * Keys and values of a prompt and of the sequences that continue it, packed as `matmul` reads them. The whole panels of the
 * prompt are stored once for all sequences; the rest of the prompt begins each sequence's own part.
 */
interface KeyValueCache {
  /** Appends the keys and values in the rows of `qkv`, one row for each of the given sequences. */
  append(layer: number, qkv: number, sequences: readonly number[]): void;
  /** Call once after all layers were appended to. */
  advance(): void;
  /** mixed = softmax(q·k)·v for one row per sequence, including the row appended last. */
  attend(layer: number, qkv: number, mixed: number, sequences: readonly number[]): void;
}

/** Allocates from the machine's arena. `tape` has the prompt's activations by layer. */
export const createKeyValueCache = (
  machine: Machine,
  tape: readonly LayerTape[],
  promptLength: number,
  sequences: number,
  room: number,
): KeyValueCache => {
  const { arena, kernels, head, scores, scoreStep, sharpness } = machine;
  const { width, heads } = machine.shape;
  const shared = Math.floor(promptLength / PANEL_COLUMNS) * PANEL_COLUMNS;
  const own = promptLength - shared;
  const capacity = padded(own + room);
  const rowStep = 3 * width * FLOAT;
  const headStep = head * PANEL_STEP;
  const take = (keys: number): number => {
    const address = arena.take(keys * width * FLOAT);
    arena.floats(address, keys * width).fill(0);
    return address;
  };
  const pair = (keys: number) => ({ keys: take(keys), values: take(keys) });
  const layers = tape.map(() => ({
    shared: pair(shared),
    own: Array.from({ length: sequences }, () => pair(capacity)),
  }));
  let count = own;

  const packShared = (index: number, qkv: number): void => {
    const layer = layers[index];
    if (layer === undefined || shared === 0) return;
    for (let at = 0; at < heads; at++) {
      const offset = at * head * FLOAT;
      const [keys, values] = [qkv + width * FLOAT + offset, qkv + 2 * width * FLOAT + offset];
      const to = at * shared * head * FLOAT;
      kernels.pack(keys, rowStep, FLOAT, layer.shared.keys + to, headStep, shared, head);
      kernels.pack(values, FLOAT, rowStep, layer.shared.values + to, shared * PANEL_STEP, head, shared);
    }
  };
  /** Writes one row's keys and values at a place of a sequence's own part. */
  const put = (index: number, qkv: number, sequence: number, place: number): void => {
    const part = layers[index]?.own[sequence];
    if (part === undefined) return;
    const row = arena.floats(qkv + width * FLOAT, 2 * width);
    const [keys, values] = [
      arena.floats(part.keys, capacity * width),
      arena.floats(part.values, capacity * width),
    ];
    const panel = place - (place % PANEL_COLUMNS);
    for (let column = 0; column < width; column++) {
      const [at, d] = [Math.floor(column / head) * capacity * head, column % head];
      keys[at + panel * head + d * PANEL_COLUMNS + (place % PANEL_COLUMNS)] = row[column] ?? 0;
      values[at + (d - (d % PANEL_COLUMNS)) * capacity + place * PANEL_COLUMNS + (d % PANEL_COLUMNS)] =
        row[width + column] ?? 0;
    }
  };
  tape.forEach(({ qkv }, layer) => {
    packShared(layer, qkv);
    for (let place = 0; place < own; place++) {
      for (let sequence = 0; sequence < sequences; sequence++) {
        put(layer, qkv + (shared + place) * rowStep, sequence, place);
      }
    }
  });

  return {
    append(layer, qkv, named) {
      named.forEach((sequence, row) => {
        put(layer, qkv + row * rowStep, sequence, count);
      });
    },
    advance() {
      count++;
    },
    attend(index, qkv, mixed, named) {
      const layer = layers[index];
      if (layer === undefined) return;
      const rows = named.length;
      const limit = padded(count + 1);
      const mixedStep = width * FLOAT;
      for (let at = 0; at < heads; at++) {
        const query = qkv + at * head * FLOAT;
        const out = mixed + at * head * FLOAT;
        const [sharedAt, ownAt] = [at * shared * head * FLOAT, at * capacity * head * FLOAT];
        if (shared > 0) {
          const keys = layer.shared.keys + sharedAt;
          kernels.matmul(query, rowStep, keys, headStep, scores, scoreStep, rows, head, shared, 0);
        }
        named.forEach((sequence, row) => {
          const keys = (layer.own[sequence]?.keys ?? 0) + ownAt;
          const to = scores + row * scoreStep + shared * FLOAT;
          kernels.matmul(query + row * rowStep, rowStep, keys, headStep, to, scoreStep, 1, head, limit, 0);
        });
        kernels.soften(scores, scoreStep, rows, shared + count + 1, 0, shared + limit, sharpness);
        if (shared > 0) {
          const values = layer.shared.values + sharedAt;
          kernels.matmul(
            scores,
            scoreStep,
            values,
            shared * PANEL_STEP,
            out,
            mixedStep,
            rows,
            shared,
            head,
            0,
          );
        }
        named.forEach((sequence, row) => {
          const values = (layer.own[sequence]?.values ?? 0) + ownAt;
          const from = scores + row * scoreStep + shared * FLOAT;
          const to = out + row * mixedStep;
          const step = capacity * PANEL_STEP;
          kernels.matmul(from, scoreStep, values, step, to, mixedStep, 1, limit, head, shared > 0 ? 1 : 0);
        });
      }
    },
  };
};

/** Computes one more token for each of the given sequences, all at the same position. */
interface Decoder {
  /** The address of the final hidden states, a row for each token. */
  step(tokens: Int32Array, sequences: readonly number[], position: number): number;
}

/** Allocates from the machine's arena, for up to `most` sequences. */
export const createDecoder = (
  machine: Machine,
  model: LoadedModel,
  keyValues: KeyValueCache,
  most: number,
): Decoder => {
  const { arena, kernels, shape, head, eps, turns } = machine;
  const { width, heads, inner } = shape;
  const take = (columns: number): number => arena.take(most * columns * FLOAT);
  const [x, factors, normed, qkv] = [take(width), take(1), take(width), take(3 * width)];
  const [mixed, wide, act] = [take(width), take(2 * inner), take(inner)];
  return {
    step(tokens, sequences, position) {
      const rows = tokens.length;
      lookUp(machine, model, tokens, x);
      model.layers.forEach((layer, index) => {
        kernels.norm(x, layer.attentionNorm, normed, factors, eps, rows, width);
        applyLinear(machine, layer.attention, normed, qkv, rows);
        kernels.rotate(qkv, 3 * width * FLOAT, turns + position * head * FLOAT, 0, rows, 2 * heads, head / 2);
        keyValues.append(index, qkv, sequences);
        keyValues.attend(index, qkv, mixed, sequences);
        applyLinear(machine, layer.attentionOut, mixed, x, rows, 1);
        kernels.norm(x, layer.mlpNorm, normed, factors, eps, rows, width);
        applyLinear(machine, layer.wide, normed, wide, rows);
        kernels.gate(wide, act, rows, inner);
        applyLinear(machine, layer.down, act, x, rows, 1);
      });
      keyValues.advance();
      kernels.norm(x, model.norm, normed, factors, eps, rows, width);
      return normed;
    },
  };
};
