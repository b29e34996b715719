/** The part of WebAssembly that is used here; Node's types leave it to the DOM library. */
export interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => Memory;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ) => { readonly exports: unknown };
  validate(code: Uint8Array): boolean;
};

/** One page, 64 KiB, of zeros. */
export const createMemory = (): Memory => new WebAssembly.Memory({ initial: 1 });

/** False where there is no WebAssembly, or one without these instructions (SIMD). */
export const canInstantiate = (code: Uint8Array): boolean =>
  'WebAssembly' in globalThis && WebAssembly.validate(code);

/** The exports of a module that imports this memory as `env.memory`. Synchronous: kernels are a few kilobytes. */
export const instantiate = (code: Uint8Array, memory: Memory): unknown =>
  new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } }).exports;
