import { toBytes } from '../../src/base/little-endian.ts';

/** Numbers from -7 to 7, two in a byte, each with 8 added. */
const MOST = 7;
const SHIFT = 8;
const HEADER_BYTES = 8;
/** Shares of a row's largest number that may fill the four bits: cutting the largest ones makes all others finer. */
const CUTS = [1, 0.9, 0.8, 0.7, 0.6, 0.5];

/** The file of the table (safetensors: `rows` in 4 bits and their `scales`), and the table as a reader gets it back. */
export function encodeTable(
  table: Float32Array,
  size: number,
): { readonly bytes: Buffer; readonly rounded: Float32Array } {
  const count = table.length / size;
  const rows = new Uint8Array(table.length / 2);
  const scales = new Float32Array(count);
  const rounded = new Float32Array(table.length);
  for (let row = 0; row < count; row++) {
    const cells = table.subarray(row * size, (row + 1) * size);
    const scale = bestScale(cells);
    scales[row] = scale;
    for (const [at, value] of cells.entries()) {
      const number = roundTo(value, scale);
      const place = row * size + at;
      rounded[place] = number * scale;
      rows[place >> 1] = (rows[place >> 1] ?? 0) | ((number + SHIFT) << (4 * (place & 1)));
    }
  }
  const parts = [
    { name: 'scales', dtype: 'F32', shape: [count], bytes: toBytes(scales) },
    { name: 'rows', dtype: 'U8', shape: [count, size / 2], bytes: rows },
  ];
  let end = 0;
  const header = Object.fromEntries(
    parts.map(({ name, dtype, shape, bytes }) => {
      const from = end;
      end += bytes.length;
      return [name, { dtype, shape, data_offsets: [from, end] }];
    }),
  );
  const text = JSON.stringify(header);
  const padded = text.padEnd(Math.ceil(text.length / HEADER_BYTES) * HEADER_BYTES);
  const length = Buffer.alloc(HEADER_BYTES);
  length.writeBigUInt64LE(BigInt(padded.length));
  return { bytes: Buffer.concat([length, Buffer.from(padded), ...parts.map(({ bytes }) => bytes)]), rounded };
}

const roundTo = (value: number, scale: number): number =>
  scale === 0 ? 0 : Math.max(-MOST, Math.min(MOST, Math.round(value / scale)));

function bestScale(cells: Float32Array): number {
  const largest = cells.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const errorOf = (scale: number): number =>
    cells.reduce((sum, value) => sum + (value - roundTo(value, scale) * scale) ** 2, 0);
  const tried = CUTS.map((cut) => Math.fround((cut * largest) / MOST));
  return tried.reduce((best, scale) => (errorOf(scale) < errorOf(best) ? scale : best));
}
