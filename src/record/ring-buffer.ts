/** The location of bytes in the ring. `taken` is the space they occupy, including what was skipped at the end of the ring. */
export interface RingSpan {
  readonly at: number;
  readonly length: number;
  readonly taken: number;
}

export interface RingBuffer {
  /** Copies bytes into the ring; undefined when there is no space for them now. */
  put(pieces: readonly Uint8Array[], length: number): RingSpan | undefined;
  /** Frees space, in the order in which it was taken. */
  release(taken: number): void;
}

/**
 * A ring buffer in memory shared by two threads, filled by one and read by the other: bytes cross without an allocation,
 * and so without garbage collection. They stay until they are released.
 */
export function createRingBuffer(memory: SharedArrayBuffer): RingBuffer {
  const bytes = new Uint8Array(memory);
  const size = bytes.length;
  let head = 0;
  let used = 0;
  return {
    put: (pieces, length) => {
      const isWrapped = head + length > size;
      const taken = (isWrapped ? size - head : 0) + length;
      if (length > size / 4 || used + taken > size) return undefined;
      const at = isWrapped ? 0 : head;
      let to = at;
      for (const piece of pieces) {
        bytes.set(piece, to);
        to += piece.length;
      }
      head = at + length;
      used += taken;
      return { at, length, taken };
    },
    release: (taken) => {
      used -= taken;
      // Restart at the beginning: under low load only little of the memory is ever touched.
      if (used === 0) head = 0;
    },
  };
}
