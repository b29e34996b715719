/** The part of WebAssembly that is used here; Node's types leave it to the DOM library. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => WasmMemory;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, WasmMemory>>>>,
  ) => { readonly exports: unknown };
  validate(code: Uint8Array): boolean;
};

/** One page, 64 KiB, of zeros. */
export const createWasmMemory = (): WasmMemory => new WebAssembly.Memory({ initial: 1 });

/** False where there is no WebAssembly, or one without these instructions (SIMD). */
export const canInstantiate = (code: Uint8Array): boolean =>
  'WebAssembly' in globalThis && WebAssembly.validate(code);

/** The exports of a module that imports this memory as `env.memory`. Synchronous: kernels are a few kilobytes. */
export const instantiate = (code: Uint8Array, memory: WasmMemory): unknown =>
  new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } }).exports;

const PAGE = 0x10000;
const ALIGNMENT = 16;

/** A bump allocator over WebAssembly memory. A view is valid until the next `take`, which may move the memory. */
export interface Arena {
  readonly memory: WasmMemory;
  /** Allocates: the address of that many bytes, which are zeros unless they were used before a `rewind`. */
  take(bytes: number): number;
  /** The current end of the allocated memory. */
  mark(): number;
  /** Frees everything allocated since the mark. */
  rewind(mark: number): void;
  floats(address: number, count: number): Float32Array;
  ints(address: number, count: number): Int32Array;
  shorts(address: number, count: number): Int16Array;
  bytes(address: number, count: number): Uint8Array;
}

export const createArena = (): Arena => {
  const memory = createWasmMemory();
  let end = ALIGNMENT;
  return {
    memory,
    take(bytes) {
      const address = end;
      end = Math.ceil((end + bytes) / ALIGNMENT) * ALIGNMENT;
      const missing = end - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      return address;
    },
    mark: () => end,
    rewind(mark) {
      end = mark;
    },
    floats: (address, count) => new Float32Array(memory.buffer, address, count),
    ints: (address, count) => new Int32Array(memory.buffer, address, count),
    shorts: (address, count) => new Int16Array(memory.buffer, address, count),
    bytes: (address, count) => new Uint8Array(memory.buffer, address, count),
  };
};
