/** Just enough of the WebAssembly binary format to write one small function down in the open. */

export const I32 = 0x7f;
export const F32 = 0x7d;
export const V128 = 0x7b;

/** Unsigned LEB128: how the format writes numbers. */
function unsigned(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

/** Signed LEB128, for constants. */
function signed(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}

const simd = (code: number): readonly number[] => [0xfd, ...unsigned(code)];
/** Alignment is a hint: 0 promises nothing. */
const at = (offset: number): readonly number[] => [0, ...unsigned(offset)];

/** Instructions, by the names the specification gives them. */
export const op = {
  loop: [0x03, 0x40],
  block: [0x02, 0x40],
  end: [0x0b],
  br: (depth: number) => [0x0c, ...unsigned(depth)],
  brIf: (depth: number) => [0x0d, ...unsigned(depth)],
  get: (local: number) => [0x20, ...unsigned(local)],
  set: (local: number) => [0x21, ...unsigned(local)],
  tee: (local: number) => [0x22, ...unsigned(local)],
  f32Load: (offset: number) => [0x2a, ...at(offset)],
  f32Store: (offset: number) => [0x38, ...at(offset)],
  i32Const: (value: number) => [0x41, ...signed(value)],
  i32Eqz: [0x45],
  i32LtU: [0x49],
  i32Add: [0x6a],
  i32Sub: [0x6b],
  f32Mul: [0x94],
  f32ConvertI32S: [0xb2],
  v128Load: (offset: number) => [...simd(0x00), ...at(offset)],
  /** Eight signed bytes, widened to sixteen bits each. */
  v128Load8x8S: (offset: number) => [...simd(0x01), ...at(offset)],
  v128Const0: [...simd(0x0c), ...new Array<number>(16).fill(0)],
  i32x4ExtractLane: (lane: number) => [...simd(0x1b), lane],
  i32x4Add: simd(0xae),
  /** Multiplies eight pairs of sixteen bits and adds neighbours. */
  i32x4DotI16x8S: simd(0xba),
} as const;

const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;

const list = (items: readonly (readonly number[])[]): readonly number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];
const text = (value: string): readonly number[] =>
  list([...Buffer.from(value, 'utf8')].map((byte) => [byte]));
const section = (id: number, items: readonly (readonly number[])[]): readonly number[] => {
  const body = list(items);
  return [id, ...unsigned(body.length), ...body];
};

/** One exported function without a result over one imported memory, `env.memory`. */
export function assembleModule(
  name: string,
  parameters: readonly number[],
  locals: readonly number[],
  body: readonly (readonly number[])[],
): Uint8Array {
  const code = [...list(locals.map((type) => [1, type])), ...body.flat(), ...op.end];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d],
    ...[1, 0, 0, 0],
    ...section(SECTION.type, [[0x60, ...list(parameters.map((type) => [type])), ...list([])]]),
    ...section(SECTION.import, [[...text('env'), ...text('memory'), 0x02, 0x00, ...unsigned(1)]]),
    ...section(SECTION.function, [[0]]),
    ...section(SECTION.export, [[...text(name), 0x00, 0]]),
    ...section(SECTION.code, [[...unsigned(code.length), ...code]]),
  ]);
}

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of WebAssembly that is used here; the types of Node leave it to a browser's. */
interface Wasm {
  readonly Memory: new (limits: { readonly initial: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
  validate(bytes: Uint8Array): boolean;
}

/** Undefined where there is no WebAssembly, or one that does not know these instructions. */
export function instantiate(
  bytes: Uint8Array,
): { readonly memory: Memory; readonly exports: Readonly<Record<string, unknown>> } | undefined {
  const { WebAssembly } = globalThis as { readonly WebAssembly?: Wasm };
  if (!WebAssembly?.validate(bytes)) return undefined;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  return { memory, exports };
}
