/** The part of the platform's WebAssembly that is used here; Node's types leave it to the browser's. */
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
};

/** One page, 64 KiB, of zeros. */
export const createMemory = (): Memory => new WebAssembly.Memory({ initial: 1 });

/** The exports of a module that imports this memory as `env.memory`. At once: kernels are a few kilobytes. */
export const instantiate = (code: Uint8Array, memory: Memory): unknown =>
  new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } }).exports;
