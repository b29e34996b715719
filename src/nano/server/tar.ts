import type { AdapterFile } from './peft-files.ts';

const BLOCK = 512;

/** A tar archive (ustar) of plain files with short names. */
export function createTar(files: readonly AdapterFile[], seconds: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { name, bytes } of files) {
    const padding = (BLOCK - (bytes.length % BLOCK)) % BLOCK;
    parts.push(headerOf(name, bytes.length, seconds), bytes, new Uint8Array(padding));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return Buffer.concat(parts);
}

function headerOf(name: string, size: number, seconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > 100) throw new RangeError('a name in a tar has at most 100 bytes');
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(seconds, 12), 136);
  // The checksum is taken with its own place full of spaces.
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
