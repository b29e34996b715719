/**
 * A small WebAssembly assembler. Instructions are functions from operands to bytes, so that a kernel reads like the
 * expression it computes and needs no compiler, neither at build time nor at run time.
 */
export type Code = readonly number[];
/** A plain number stands for a constant of the type that the instruction expects, in all lanes of a vector. */
type Operand = Code | number;
type Instruction = (...operands: readonly Operand[]) => Code;
/** Used as an operand, a local is its value. */
export type Local = Code & { set(value: Operand): Code };

const unsigned = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
};

const signed = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest & 0x7f];
};

const floatBytes = (value: number): number[] => [...new Uint8Array(new Float32Array([value]).buffer)];

interface ValueType {
  readonly byte: number;
  constant(value: number): Code;
}
const I32: ValueType = { byte: 0x7f, constant: (value) => [0x41, ...signed(value)] };
const F32: ValueType = { byte: 0x7d, constant: (value) => [0x43, ...floatBytes(value)] };
const V128: ValueType = {
  byte: 0x7b,
  constant: (value) => [0xfd, 0x0c, ...[0, 1, 2, 3].flatMap(() => floatBytes(value))],
};

const push = (type: ValueType, operands: readonly Operand[]): number[] =>
  operands.flatMap((operand) => (typeof operand === 'number' ? type.constant(operand) : operand));
const plain =
  (type: ValueType, opcode: number): Instruction =>
  (...operands) => [...push(type, operands), opcode];
const simd =
  (opcode: number, type = V128): Instruction =>
  (...operands) => [...push(type, operands), 0xfd, ...unsigned(opcode)];
/** The alignment hint 0 promises nothing and is always valid. */
const load =
  (...opcode: readonly number[]) =>
  (address: Code, offset = 0): Code => [...address, ...opcode, 0, ...unsigned(offset)];
const store =
  (...opcode: readonly number[]) =>
  (address: Code, value: Code, offset = 0): Code => [...address, ...value, ...opcode, 0, ...unsigned(offset)];

export const i32 = {
  load: load(0x28),
  add: plain(I32, 0x6a),
  sub: plain(I32, 0x6b),
  mul: plain(I32, 0x6c),
  lessThan: plain(I32, 0x49),
};

export const f32 = {
  load: load(0x2a),
  store: store(0x38),
  sqrt: plain(F32, 0x91),
  add: plain(F32, 0x92),
  mul: plain(F32, 0x94),
  div: plain(F32, 0x95),
  max: plain(F32, 0x97),
  fromInt: plain(I32, 0xb2),
};

export const v128 = {
  load: load(0xfd, 0x00),
  /** Eight signed bytes, widened to 16 bits. */
  loadBytes: load(0xfd, 0x01),
  /** Four signed 16-bit integers, widened to 32 bits. */
  loadShorts: load(0xfd, 0x03),
  /** One 32-bit value, repeated in all four lanes. */
  loadSplat: load(0xfd, 0x09),
  store: store(0xfd, 0x0b),
  and: simd(0x4e),
};

export const i16x8 = { narrow: simd(0x85) };

export const i32x4 = {
  splat: simd(0x11, I32),
  shiftLeft: (vector: Code, bits: number): Code => simd(0xab)(vector, I32.constant(bits)),
  add: simd(0xae),
  /** Products of 16-bit integers, with neighbouring products added. */
  dot: simd(0xba),
  fromFloat: simd(0xf8),
};

export const f32x4 = {
  splat: simd(0x13, F32),
  nearest: simd(0x6a),
  abs: simd(0xe0),
  neg: simd(0xe1),
  add: simd(0xe4),
  sub: simd(0xe5),
  mul: simd(0xe6),
  div: simd(0xe7),
  /** `pmin` and `pmax`: one machine instruction each, with no special case for NaN. */
  min: simd(0xea),
  max: simd(0xeb),
  fromInt: simd(0xfa),
};

const reduceLanes = (extractLane: number, combine: Instruction, vector: Local): Code => {
  const lane = (index: number): Code => [...vector, 0xfd, extractLane, index];
  return combine(combine(lane(0), lane(1)), combine(lane(2), lane(3)));
};

/** The four lanes of a vector of floats, reduced to one float by a scalar instruction. */
export const reduceFloatLanes = (combine: Instruction, vector: Local): Code =>
  reduceLanes(0x1f, combine, vector);

/** The sum of the four lanes of a vector of 32-bit integers. */
export const sumIntLanes = (vector: Local): Code => reduceLanes(0x1b, i32.add, vector);

/** Several instructions one after the other. */
export const block = (...parts: readonly Code[]): Code => parts.flat();

/** local = local + amount, for addresses and counts. */
export const advance = (local: Local, amount: Operand): Code => local.set(i32.add(local, amount));

/** Runs `body` once, and again while `condition` holds. */
export const doWhile = (condition: Code, ...body: readonly Code[]): Code => [
  ...[0x03, 0x40],
  ...body.flat(),
  ...condition,
  ...[0x0d, 0x00, 0x0b],
];

/** Runs `body` for i = 0, step, 2·step, ... below `end`; the body runs at least once. */
export const forLoop = (i: Local, end: Operand, step: number, ...body: readonly Code[]): Code => [
  ...i.set(0),
  ...doWhile(i32.lessThan(i, end), ...body, advance(i, step)),
];

/** Runs `body` while `condition` holds, which may be never. */
export const whileTrue = (condition: Code, ...body: readonly Code[]): Code => [
  ...[0x03, 0x40],
  ...condition,
  ...[0x04, 0x40],
  ...body.flat(),
  ...[0x0c, 0x01, 0x0b, 0x0b],
];

/** Runs `then` if `condition` holds, else `otherwise`. */
export const ifElse = (condition: Code, then: Code, otherwise: Code): Code => [
  ...condition,
  ...[0x04, 0x40],
  ...then,
  0x05,
  ...otherwise,
  0x0b,
];

/** Makes the local variables of one kernel. */
export interface KernelScope {
  i32(): Local;
  f32(): Local;
  v128(): Local;
}

export interface Kernel {
  readonly name: string;
  /** The type of each parameter. */
  readonly parameters: Code;
  readonly code: Code;
}

const localAt = (index: number, type: ValueType): Local =>
  Object.assign([0x20, ...unsigned(index)], {
    set: (value: Operand) => [...push(type, [value]), 0x21, ...unsigned(index)],
  });

/** A function over addresses and counts that returns nothing; the parameters named in `floats` are floats. */
export const kernel = <const Names extends readonly string[]>(
  name: string,
  names: Names,
  write: (parameters: Readonly<Record<Names[number], Local>>, scope: KernelScope) => Code,
  floats: readonly Names[number][] = [],
): Kernel => {
  const types: number[] = [];
  const fresh = (type: ValueType) => () => localAt(names.length + types.push(type.byte) - 1, type);
  const typeOf = (key: Names[number]): ValueType => (floats.includes(key) ? F32 : I32);
  const parameters = Object.fromEntries(names.map((key, index) => [key, localAt(index, typeOf(key))]));
  const scope = { i32: fresh(I32), f32: fresh(F32), v128: fresh(V128) };
  const body = write(parameters as Record<Names[number], Local>, scope);
  const code = [...unsigned(types.length), ...types.flatMap((type) => [1, type]), ...body, 0x0b];
  return { name, parameters: names.map((key) => typeOf(key).byte), code };
};

const sized = (bytes: Code): Code => [...unsigned(bytes.length), ...bytes];
const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const text = (value: string): Code => sized([...new TextEncoder().encode(value)]);
const section = (id: number, items: readonly Code[]): Code => [id, ...sized(list(items))];

/** A module that imports its memory as `env.memory` and exports the kernels by name. */
export const assemble = (kernels: readonly Kernel[]): Uint8Array => {
  const signature = ({ parameters }: Kernel): Code => [0x60, ...sized(parameters), 0];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, kernels.map(signature)),
    ...section(2, [[...text('env'), ...text('memory'), 0x02, 0x00, 0x01]]),
    ...section(
      3,
      kernels.map((_, index) => unsigned(index)),
    ),
    ...section(
      7,
      kernels.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]),
    ),
    ...section(
      10,
      kernels.map(({ code }) => sized(code)),
    ),
  ]);
};

/** ln(2)^k / k!: the Taylor series of 2^f, highest power first. For |f| <= 1/2 its error is below float rounding. */
const SERIES = [6, 5, 4, 3, 2, 1, 0].map((k) => {
  let term = 1;
  for (let factor = 1; factor <= k; factor++) term *= Math.LN2 / factor;
  return term;
});

/** a·x^n + b·x^(n-1) + ..., by Horner's rule. */
export const polynomial = ([first = 0, ...rest]: readonly number[], x: Local): Code | number =>
  rest.reduce<Code | number>((sum, coefficient) => f32x4.add(f32x4.mul(sum, x), coefficient), first);

/** value = 2^value per lane, for values up to 127; subnormal results become 2^-126. */
export const powerOfTwo = (value: Local, scope: KernelScope): Code => {
  const whole = scope.v128();
  const exponent = i32x4.add(i32x4.fromFloat(whole), i32x4.splat(127));
  return block(
    value.set(f32x4.max(-126, value)),
    whole.set(f32x4.nearest(value)),
    value.set(f32x4.sub(value, whole)),
    value.set(f32x4.mul(polynomial(SERIES, value), i32x4.shiftLeft(exponent, 23))),
  );
};
