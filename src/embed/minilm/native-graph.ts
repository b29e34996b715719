import { toBytes } from '../../base/little-endian.ts';
import { createProtobufWriter } from '../../base/protobuf.ts';
import type { Arena } from '../../base/wasm/arena.ts';
import { HEADS, HIDDEN, INNER, WEIGHT_PANEL } from './kernels.ts';
import type { EncoderWeights, MiniLmLinear } from './weights.ts';

/** Field numbers and types of ONNX's messages (onnx.proto). */
const TYPE = { float: 1, uint8: 2, int8: 3, int64: 7 } as const;
const INTEGER_ATTRIBUTE = 2;
const IR_VERSION = 10;
const OPERATORS = 21;
/** The operators of onnxruntime itself. */
const CONTRIBUTED = 'com.microsoft';
const CONTRIBUTED_OPERATORS: ReadonlySet<string> = new Set([
  'BiasGelu',
  'MatMulIntegerToFloat',
  'MultiHeadAttention',
  'SkipLayerNormalization',
]);

/** The inputs of the graph; its output is the states after the last layer. */
export const GRAPH = { states: 'x', positions: 'p', output: 'y' } as const;

type Write = (writer: ReturnType<typeof createProtobufWriter>) => void;
const message = (write: Write): Uint8Array => {
  const writer = createProtobufWriter();
  write(writer);
  return writer.finish();
};

const attribute = (name: string, value: number): Uint8Array =>
  message((out) => {
    out.text(1, name);
    out.integer(3, value);
    out.integer(20, INTEGER_ATTRIBUTE);
  });
const nodeOf = (op: string, inputs: readonly string[], outputs: readonly string[], settings: object) =>
  message((out) => {
    for (const input of inputs) out.text(1, input);
    for (const output of outputs) out.text(2, output);
    out.text(4, op);
    for (const [name, value] of Object.entries(settings)) out.message(5, attribute(name, value));
    if (CONTRIBUTED_OPERATORS.has(op)) out.text(7, CONTRIBUTED);
  });

const domain = (name: string, version: number): Uint8Array =>
  message((out) => {
    out.text(1, name);
    out.integer(2, version);
  });

/** A graph under construction: nodes in the order in which they run. */
function createGraph() {
  const nodes: Uint8Array[] = [];
  const constants: Uint8Array[] = [];
  let made = 0;
  const constant = (type: keyof typeof TYPE, dims: readonly number[], bytes: Uint8Array): string => {
    const name = `c${constants.length}`;
    const tensor = message((out) => {
      out.packed(1, dims);
      out.integer(2, TYPE[type]);
      out.text(8, name);
      out.bytes(9, bytes);
    });
    constants.push(tensor);
    return name;
  };
  const dimension = (size: number | string) =>
    message((out) => (typeof size === 'number' ? out.integer(1, size) : out.text(2, size)));
  const tensorType = message((out) => {
    out.integer(1, TYPE.float);
    const shape = message((dimensions) => {
      for (const size of [1, 'rows', HIDDEN]) dimensions.message(1, dimension(size));
    });
    out.message(2, shape);
  });
  const value = (name: string): Uint8Array =>
    message((out) => {
      out.text(1, name);
      out.message(
        2,
        message((type) => type.message(1, tensorType)),
      );
    });
  return {
    floats: (dims: readonly number[], values: Float32Array) => constant('float', dims, toBytes(values)),
    integers: (values: readonly number[]) =>
      constant('int64', [values.length], toBytes(BigInt64Array.from(values, BigInt))),
    bytes: (type: 'uint8' | 'int8', dims: readonly number[], values: Uint8Array) =>
      constant(type, dims, values),
    /** Adds a node; the names of its outputs. */
    add: (
      op: string,
      inputs: readonly string[],
      settings: Readonly<Record<string, number>> = {},
      count = 1,
    ) => {
      const outputs = Array.from({ length: count }, () => `v${made++}`);
      nodes.push(nodeOf(op, inputs, outputs, settings));
      return outputs;
    },
    finish: (last: string): Uint8Array => {
      nodes.push(nodeOf('Identity', [last], [GRAPH.output], {}));
      const graph = message((out) => {
        for (const node of nodes) out.message(1, node);
        out.text(2, 'encoder');
        for (const one of constants) out.message(5, one);
        for (const name of [GRAPH.states, GRAPH.positions]) out.message(11, value(name));
        out.message(12, value(GRAPH.output));
      });
      return message((out) => {
        out.integer(1, IR_VERSION);
        out.bytes(7, graph);
        out.message(8, domain('', OPERATORS));
        out.message(8, domain(CONTRIBUTED, 1));
      });
    },
  };
}

const BYTE_MOST = 127;
/** A difference is at most half a step of the first byte, on both sides. */
const FINE_STEP = 1 / (2 * BYTE_MOST);
const ZERO_POINT = 128;

/** The bytes of a linear layer as a matrix of inputs by outputs, out of the order in which the kernel reads them. */
function unpack(arena: Arena, { inputs, outputs, weights }: MiniLmLinear): Uint8Array {
  const packed = arena.bytes(weights, inputs * outputs);
  const matrix = new Uint8Array(inputs * outputs);
  let at = 0;
  for (let panel = 0; panel < outputs; panel += WEIGHT_PANEL)
    for (let pair = 0; pair < inputs; pair += 2)
      for (let lane = panel; lane < panel + WEIGHT_PANEL; lane++) {
        matrix[pair * outputs + lane] = packed[at++] ?? 0;
        matrix[(pair + 1) * outputs + lane] = packed[at++] ?? 0;
      }
  return matrix;
}

/**
 * The encoder as an ONNX model, from the weights that the kernels use. As there, weights have 8 bits, and inputs 16, with a scale a row: two
 * bytes each, a coarse one and what it leaves, multiplied one after the other. One byte is a third faster, and moves vectors
 * by a cosine of .002.
 */
export function encoderGraph(arena: Arena, { embeddingNorm, layers }: EncoderWeights): Uint8Array {
  const graph = createGraph();
  const { add } = graph;
  const floats = (address: number, count: number): string =>
    graph.floats([count], arena.floats(address, count));
  const number = (value: number): string => graph.floats([], Float32Array.of(value));
  const [one, coarse, fine] = [number(1), number(1 / BYTE_MOST), number(FINE_STEP)];
  const zero = graph.bytes('uint8', [], Uint8Array.of(ZERO_POINT));
  const [lastAxis, thirds] = [graph.integers([-1]), graph.integers([HIDDEN, HIDDEN, HIDDEN])];
  const apply = (op: string, inputs: readonly string[], settings = {}): string =>
    add(op, inputs, settings)[0] ?? '';

  /** Without its bias, which the next operator adds. */
  const linear = (made: MiniLmLinear, x: string): string => {
    const weights = graph.bytes('int8', [made.inputs, made.outputs], unpack(arena, made));
    const scales = floats(made.scales, made.outputs);
    const largest = apply('ReduceMax', [apply('Abs', [x]), lastAxis], { keepdims: 1 });
    const scale = apply('Mul', [largest, coarse]);
    const scaled = apply('Div', [x, scale]);
    const first = apply('QuantizeLinear', [scaled, one, zero]);
    const left = apply('Sub', [scaled, apply('DequantizeLinear', [first, one, zero])]);
    const both = apply('Concat', [first, apply('QuantizeLinear', [left, fine, zero])], { axis: 0 });
    const product = apply('MatMulIntegerToFloat', [both, weights, one, scales, zero]);
    const [large = '', small = ''] = add('Split', [product], { axis: 0, num_outputs: 2 }, 2);
    return apply('Mul', [apply('Add', [large, apply('Mul', [small, fine])]), scale]);
  };
  const addNorm = (x: string, added: string, norm: typeof embeddingNorm, bias?: string): string =>
    apply('SkipLayerNormalization', [
      x,
      added,
      floats(norm.gain, HIDDEN),
      floats(norm.bias, HIDDEN),
      ...(bias === undefined ? [] : [bias]),
    ]);

  let x = addNorm(GRAPH.states, GRAPH.positions, embeddingNorm);
  for (const { attention, attentionOut, attentionNorm, up, down, norm } of layers) {
    const parts = add('Split', [linear(attention, x), thirds], { axis: -1 }, 3);
    const bias = floats(attention.bias, 3 * HIDDEN);
    const mixed = apply('MultiHeadAttention', [...parts, bias], { num_heads: HEADS });
    const between = addNorm(x, linear(attentionOut, mixed), attentionNorm, floats(attentionOut.bias, HIDDEN));
    const wide = apply('BiasGelu', [linear(up, between), floats(up.bias, INNER)]);
    x = addNorm(between, linear(down, wide), norm, floats(down.bias, HIDDEN));
  }
  return graph.finish(x);
}
