import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Numbers below 65,536 as they come, then one file of them. */
export interface Packer {
  add(...numbers: readonly number[]): void;
  /** Bytes on disk. */
  write(file: string): number;
}

export function createPacker(): Packer {
  let numbers = new Uint16Array(1 << 20);
  let length = 0;
  return {
    add: (...more) => {
      if (length + more.length > numbers.length) {
        const larger = new Uint16Array(2 * numbers.length + more.length);
        larger.set(numbers);
        numbers = larger;
      }
      numbers.set(more, length);
      length += more.length;
    },
    write: (file) => {
      const bytes = gzipSync(new Uint8Array(numbers.buffer, 0, 2 * length), { level: 9 });
      writeFileSync(file, bytes);
      return bytes.length;
    },
  };
}
