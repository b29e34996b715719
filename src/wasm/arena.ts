import { createMemory, type Memory } from './web-assembly.ts';

const PAGE = 0x10000;
const ALIGNMENT = 16;

/** WebAssembly memory that is handed out from front to back. A view is good until the next `take`, which may move the memory. */
export interface Arena {
  readonly memory: Memory;
  /** The address of that many bytes: zeros, unless `rewind` gave them back before. */
  take(bytes: number): number;
  /** Where the next `take` will begin. */
  mark(): number;
  /** Gives back all that was taken since the mark was. */
  rewind(mark: number): void;
  floats(address: number, count: number): Float32Array;
  ints(address: number, count: number): Int32Array;
  shorts(address: number, count: number): Int16Array;
  bytes(address: number, count: number): Uint8Array;
}

export const createArena = (): Arena => {
  const memory = createMemory();
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
