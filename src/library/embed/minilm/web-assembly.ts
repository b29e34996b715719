/** The part of the platform's WebAssembly that is used here; Node's types leave it to the browser's. */
export interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => Memory;
  instantiate(
    code: Uint8Array,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ): Promise<{ readonly instance: { readonly exports: unknown } }>;
};

/** One page, 64 KiB, of zeros. */
export const createMemory = (): Memory => new WebAssembly.Memory({ initial: 1 });

/** The exports of a module that imports this memory as `env.memory`. */
export const instantiate = async (code: Uint8Array, memory: Memory): Promise<unknown> =>
  (await WebAssembly.instantiate(code, { env: { memory } })).instance.exports;
