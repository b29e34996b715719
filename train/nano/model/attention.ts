import { PANEL_COLUMNS } from '../kernels/matmul-kernels.ts';
import { FLOAT, type Machine, padded, SCORE_ROWS } from './machine.ts';
import { type PrefixSegment, segmentsUpTo } from './prefix-tree.ts';

const PANEL_STEP = PANEL_COLUMNS * FLOAT;

/**
 * Attention over a prefix tree. A row of `qkv` has query, key and value; a segment attends to the rows of its ancestors and
 * its own. Keys are in the order of their positions whether they are shared or not, so that sharing changes no bit.
 */
export interface Attention {
  /** mixed = softmax(q·k)·v. */
  forward(qkv: number, mixed: number, segments: readonly PrefixSegment[]): void;
  /** dQkv += the gradient with respect to qkv, given dMixed. */
  backward(qkv: number, dMixed: number, dQkv: number, segments: readonly PrefixSegment[]): void;
}

/** Brings keys and values into the order that the kernels read. */
function createPacking({ arena, kernels, head, shape }: Machine) {
  const rowStep = 3 * shape.width * FLOAT;
  const headStep = head * PANEL_STEP;
  /** The address of the rows of a segment and its ancestors, contiguous from the first position on: copied to `gathered` if need be. */
  const gather = (qkv: number, segment: PrefixSegment, gathered: number): number => {
    if (segment.parent === undefined) return qkv + segment.start * rowStep;
    const bytes = arena.bytes(0, arena.memory.buffer.byteLength);
    for (const { start, length, position } of segmentsUpTo(segment)) {
      const from = qkv + start * rowStep;
      bytes.copyWithin(gathered + position * rowStep, from, from + length * rowStep);
    }
    return gathered;
  };
  /** Panels of eight keys, for products with each key. */
  const packByKey = (from: number, to: number, keys: number): void =>
    kernels.pack(from, rowStep, FLOAT, to, headStep, keys, head);
  /** Panels of eight columns, for sums over keys. The padding of the last panel has weight 0, but must not be NaN. */
  const packByColumn = (from: number, to: number, keys: number): void => {
    const step = padded(keys) * PANEL_STEP;
    kernels.pack(from, FLOAT, rowStep, to, step, head, keys);
    const missing = (padded(keys) - keys) * PANEL_COLUMNS;
    for (let panel = 0; panel < head / PANEL_COLUMNS && missing > 0; panel++) {
      arena.floats(to + panel * step + keys * PANEL_STEP, missing).fill(0);
    }
  };
  return { gather, packByKey, packByColumn };
}

/** Allocates from the machine's arena; valid until that is rewound. */
export const createAttention = (machine: Machine): Attention => {
  const { arena, kernels, head, scores, backScores, scoreStep, sharpness, scale } = machine;
  const { width, heads, contextLength } = machine.shape;
  const most = padded(contextLength);
  const rowFloats = 3 * width;
  const rowStep = rowFloats * FLOAT;
  const mixedStep = width * FLOAT;
  const headStep = head * PANEL_STEP;
  const { gather, packByKey, packByColumn } = createPacking(machine);
  const gathered = arena.take(most * rowStep);
  const gatheredBack = arena.take(most * rowStep);
  const panels = () => arena.take(most * head * FLOAT);
  const [keysByKey, keysByColumn, valuesByKey, valuesByColumn] = [panels(), panels(), panels(), panels()];

  /** Calls `work` for each head and each block of rows: the head's byte offset in a row, first row, row count, key count. */
  const eachBlock = (
    segment: PrefixSegment,
    startHead: (offset: number) => void,
    work: (offset: number, first: number, rows: number, limit: number) => void,
  ): void => {
    for (let index = 0; index < heads; index++) {
      const offset = index * head * FLOAT;
      startHead(offset);
      for (let first = 0; first < segment.length; first += SCORE_ROWS) {
        const rows = Math.min(SCORE_ROWS, segment.length - first);
        work(offset, first, rows, padded(segment.position + first + rows));
      }
    }
  };
  const score = (query: number, rows: number, seen: number, limit: number): void => {
    kernels.matmul(query, rowStep, keysByKey, headStep, scores, scoreStep, rows, head, limit, 0);
    kernels.soften(scores, scoreStep, rows, seen, 1, limit, sharpness);
  };

  return {
    forward(qkv, mixed, segments) {
      for (const segment of segments) {
        const own = qkv + segment.start * rowStep;
        const keys = segment.position + segment.length;
        const all = gather(qkv, segment, gathered);
        const startHead = (offset: number): void => {
          packByKey(all + mixedStep + offset, keysByKey, keys);
          packByColumn(all + 2 * mixedStep + offset, valuesByColumn, keys);
        };
        eachBlock(segment, startHead, (offset, first, rows, limit) => {
          score(own + first * rowStep + offset, rows, segment.position + first + 1, limit);
          const out = mixed + (segment.start + first) * mixedStep + offset;
          const step = padded(keys) * PANEL_STEP;
          kernels.matmul(scores, scoreStep, valuesByColumn, step, out, mixedStep, rows, limit, head, 0);
        });
      }
    },
    backward(qkv, dMixed, dQkv, segments) {
      for (const segment of segments) {
        const own = qkv + segment.start * rowStep;
        const keys = segment.position + segment.length;
        const all = gather(qkv, segment, gathered);
        arena.floats(gatheredBack, padded(keys) * rowFloats).fill(0);
        const startHead = (offset: number): void => {
          packByKey(all + mixedStep + offset, keysByKey, keys);
          packByColumn(all + mixedStep + offset, keysByColumn, keys);
          packByKey(all + 2 * mixedStep + offset, valuesByKey, keys);
        };
        eachBlock(segment, startHead, (offset, first, rows, limit) => {
          const query = own + first * rowStep + offset;
          const back = dMixed + (segment.start + first) * mixedStep + offset;
          const [dKeys, dValues] = [gatheredBack + mixedStep + offset, gatheredBack + 2 * mixedStep + offset];
          const dQuery = gatheredBack + (segment.position + first) * rowStep + offset;
          const step = padded(keys) * PANEL_STEP;
          score(query, rows, segment.position + first + 1, limit);
          kernels.addOuter(scores, scoreStep, back, mixedStep, dValues, rowStep, rows, limit, head);
          kernels.matmul(back, mixedStep, valuesByKey, headStep, backScores, scoreStep, rows, head, limit, 0);
          kernels.softenBack(scores, backScores, scoreStep, rows, limit, scale);
          kernels.matmul(backScores, scoreStep, keysByColumn, step, dQuery, rowStep, rows, limit, head, 0);
          kernels.addOuter(backScores, scoreStep, query, rowStep, dKeys, rowStep, rows, limit, head);
        });
        for (const { start, length, position } of segmentsUpTo(segment)) {
          kernels.add(dQkv + start * rowStep, gatheredBack + position * rowStep, length * rowFloats);
        }
      }
    },
  };
};
