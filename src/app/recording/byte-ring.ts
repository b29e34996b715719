/** Where bytes stand in the ring. `taken` is the room they hold, with what had to be skipped before them. */
export interface RingSpan {
  readonly at: number;
  readonly length: number;
  readonly taken: number;
}

export interface ByteRing {
  /** Copies bytes in; undefined when there is no room for them now. */
  put(pieces: readonly Uint8Array[], length: number): RingSpan | undefined;
  /** Room that is given back, in the order in which it was taken. */
  release(taken: number): void;
}

/**
 * Memory that two threads share, filled by one of them and read by the other: bytes cross without being allocated for
 * it, and so without a collector that runs after them. What is put in stays until it is released.
 */
export function createByteRing(memory: SharedArrayBuffer): ByteRing {
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
      // From the beginning again: in calm times only a little of the memory is ever touched.
      if (used === 0) head = 0;
    },
  };
}
