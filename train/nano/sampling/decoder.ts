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

interface CacheSize {
  readonly promptLength: number;
  readonly sequences: number;
  /** Tokens that each sequence may add. */
  readonly room: number;
}

/** Addresses of packed keys and values. */
interface KeyValuePanels {
  readonly keys: number;
  readonly values: number;
}

/** Where the keys and values of one layer are: the shared part, and each sequence's own. */
interface CacheLayer {
  readonly shared: KeyValuePanels;
  readonly own: readonly KeyValuePanels[];
}

interface CacheLayout {
  readonly machine: Machine;
  /** Keys in the shared part. */
  readonly shared: number;
  /** Keys for which each own part has room. */
  readonly capacity: number;
}

/** Allocates from the machine's arena. `tape` has the prompt's activations by layer. */
export const createKeyValueCache = (
  machine: Machine,
  tape: readonly LayerTape[],
  { promptLength, sequences, room }: CacheSize,
): KeyValueCache => {
  const { arena } = machine;
  const { width } = machine.shape;
  const shared = Math.floor(promptLength / PANEL_COLUMNS) * PANEL_COLUMNS;
  const own = promptLength - shared;
  const layout: CacheLayout = { machine, shared, capacity: padded(own + room) };
  const rowStep = 3 * width * FLOAT;
  const take = (keys: number): number => {
    const address = arena.take(keys * width * FLOAT);
    arena.floats(address, keys * width).fill(0);
    return address;
  };
  const pair = (keys: number): KeyValuePanels => ({ keys: take(keys), values: take(keys) });
  let count = own;
  const layers = tape.map(
    (): CacheLayer => ({
      shared: pair(shared),
      own: Array.from({ length: sequences }, () => pair(layout.capacity)),
    }),
  );
  layers.forEach((layer, index) => {
    const qkv = tape[index]?.qkv ?? 0;
    if (shared > 0) packPrompt(layout, layer.shared, qkv);
    for (let place = 0; place < own; place++) {
      for (const panels of layer.own) writeRow(layout, panels, qkv + (shared + place) * rowStep, place);
    }
  });
  const panelsOf = (layer: number, named: readonly number[]): readonly KeyValuePanels[] =>
    named.flatMap((sequence) => layers[layer]?.own[sequence] ?? []);

  return {
    append(layer, qkv, named) {
      panelsOf(layer, named).forEach((panels, row) => {
        writeRow(layout, panels, qkv + row * rowStep, count);
      });
    },
    advance() {
      count++;
    },
    attend(index, qkv, mixed, named) {
      const layer = layers[index];
      if (layer === undefined) return;
      const own = panelsOf(index, named);
      attendRows(layout, { shared: layer.shared, own }, count + 1, { qkv, mixed });
    },
  };
};

/** Packs the keys and values of the prompt's whole panels. */
const packPrompt = ({ machine, shared }: CacheLayout, to: KeyValuePanels, qkv: number): void => {
  const { kernels, head, shape } = machine;
  const rowStep = 3 * shape.width * FLOAT;
  for (let at = 0; at < shape.heads; at++) {
    const offset = at * head * FLOAT;
    const [keys, values] = [qkv + shape.width * FLOAT + offset, qkv + 2 * shape.width * FLOAT + offset];
    const place = at * shared * head * FLOAT;
    kernels.pack(keys, rowStep, FLOAT, to.keys + place, head * PANEL_STEP, shared, head);
    kernels.pack(values, FLOAT, rowStep, to.values + place, shared * PANEL_STEP, head, shared);
  }
};

/** Writes one row's keys and values at a place of a sequence's own part. */
const writeRow = (
  { machine, capacity }: CacheLayout,
  panels: KeyValuePanels,
  qkv: number,
  place: number,
): void => {
  const { arena, head } = machine;
  const { width } = machine.shape;
  const row = arena.floats(qkv + width * FLOAT, 2 * width);
  const [keys, values] = [
    arena.floats(panels.keys, capacity * width),
    arena.floats(panels.values, capacity * width),
  ];
  const panel = place - (place % PANEL_COLUMNS);
  for (let column = 0; column < width; column++) {
    const [at, d] = [Math.floor(column / head) * capacity * head, column % head];
    keys[at + panel * head + d * PANEL_COLUMNS + (place % PANEL_COLUMNS)] = row[column] ?? 0;
    values[at + (d - (d % PANEL_COLUMNS)) * capacity + place * PANEL_COLUMNS + (d % PANEL_COLUMNS)] =
      row[width + column] ?? 0;
  }
};

/** Row i attends to the shared part and to the first `count` keys of `own[i]`. */
const attendRows = (
  { machine, shared, capacity }: CacheLayout,
  layer: CacheLayer,
  count: number,
  { qkv, mixed }: { readonly qkv: number; readonly mixed: number },
): void => {
  const { kernels, head, scores, scoreStep, sharpness, shape } = machine;
  const rowStep = 3 * shape.width * FLOAT;
  const headStep = head * PANEL_STEP;
  const mixedStep = shape.width * FLOAT;
  const rows = layer.own.length;
  const limit = padded(count);
  for (let at = 0; at < shape.heads; at++) {
    const query = qkv + at * head * FLOAT;
    const out = mixed + at * head * FLOAT;
    const [sharedAt, ownAt] = [at * shared * head * FLOAT, at * capacity * head * FLOAT];
    if (shared > 0) {
      const keys = layer.shared.keys + sharedAt;
      kernels.matmul(query, rowStep, keys, headStep, scores, scoreStep, rows, head, shared, 0);
    }
    layer.own.forEach(({ keys }, row) => {
      const [from, to] = [query + row * rowStep, scores + row * scoreStep + shared * FLOAT];
      kernels.matmul(from, rowStep, keys + ownAt, headStep, to, scoreStep, 1, head, limit, 0);
    });
    kernels.soften(scores, scoreStep, rows, shared + count, 0, shared + limit, sharpness);
    if (shared > 0) {
      const [values, step] = [layer.shared.values + sharedAt, shared * PANEL_STEP];
      kernels.matmul(scores, scoreStep, values, step, out, mixedStep, rows, shared, head, 0);
    }
    layer.own.forEach(({ values }, row) => {
      const [from, to] = [scores + row * scoreStep + shared * FLOAT, out + row * mixedStep];
      const step = capacity * PANEL_STEP;
      const isAdded = shared > 0 ? 1 : 0;
      kernels.matmul(from, scoreStep, values + ownAt, step, to, mixedStep, 1, limit, head, isAdded);
    });
  }
};

/** Computes one more token for each of the given sequences, all at the same position. */
interface Decoder {
  /** The address of the final hidden states, a row for each token. */
  step(tokens: Int32Array, sequences: readonly number[], position: number): number;
}

/** Allocates from the machine's arena, for up to `most` sequences. */
export const createDecoder = (model: LoadedModel, keyValues: KeyValueCache, most: number): Decoder => {
  const { machine } = model;
  const { arena, kernels, shape, head, eps, turns } = machine;
  const { width, heads, inner } = shape;
  const take = (columns: number): number => arena.take(most * columns * FLOAT);
  const [x, factors, normed, qkv] = [take(width), take(1), take(width), take(3 * width)];
  const [mixed, wide, act] = [take(width), take(2 * inner), take(inner)];
  return {
    step(tokens, sequences, position) {
      const rows = tokens.length;
      lookUp(model, tokens, x);
      model.layers.forEach((layer, index) => {
        kernels.norm(x, layer.attentionNorm, normed, factors, eps, rows, width);
        applyLinear(machine, layer.attention, { x: normed, y: qkv, rows });
        kernels.rotate(qkv, 3 * width * FLOAT, turns + position * head * FLOAT, 0, rows, 2 * heads, head / 2);
        keyValues.append(index, qkv, sequences);
        keyValues.attend(index, qkv, mixed, sequences);
        applyLinear(machine, layer.attentionOut, { x: mixed, y: x, rows, isAdded: true });
        kernels.norm(x, layer.mlpNorm, normed, factors, eps, rows, width);
        applyLinear(machine, layer.wide, { x: normed, y: wide, rows });
        kernels.gate(wide, act, rows, inner);
        applyLinear(machine, layer.down, { x: act, y: x, rows, isAdded: true });
      });
      keyValues.advance();
      kernels.norm(x, model.norm, normed, factors, eps, rows, width);
      return normed;
    },
  };
};
