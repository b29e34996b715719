import { crc32, deflateSync, inflateSync } from 'node:zlib';

/**
 * A picture with at most 256 colours, from an 8-bit RGB or RGBA one as browsers write it: a page has few colours, and each pixel
 * takes one byte instead of three or four. Colours beyond the 256 most frequent ones become the nearest of those.
 */
export function toPalettePng(png: Buffer): Buffer {
  const { width, height, rgb } = readPng(png);
  const counts = new Map<number, number>();
  for (const color of rgb) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 256)
    .map(([color]) => color);
  const places = new Map(palette.map((color, place) => [color, place]));
  const placeOf = (color: number): number => {
    const known = places.get(color);
    if (known !== undefined) return known;
    const place = nearest(color, palette);
    places.set(color, place);
    return place;
  };
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = placeOf(rgb[y * width + x] ?? 0);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each pixel, colours by number.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

function nearest(color: number, palette: readonly number[]): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  palette.forEach((other, place) => {
    const far =
      ((color >> 16) - (other >> 16)) ** 2 +
      (((color >> 8) & 255) - ((other >> 8) & 255)) ** 2 +
      ((color & 255) - (other & 255)) ** 2;
    if (far < least) [best, least] = [place, far];
  });
  return best;
}

interface Picture {
  readonly width: number;
  readonly height: number;
  /** One number for each pixel: 0xrrggbb. */
  readonly rgb: Uint32Array;
}

function readPng(png: Buffer): Picture {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const [depth, kind] = [png[24], png[25]];
  if (depth !== 8 || (kind !== 2 && kind !== 6)) throw new Error(`a PNG of ${depth} bits and kind ${kind}`);
  const size = kind === 2 ? 3 : 4;
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const bytes = undoFilters(inflateSync(Buffer.concat(parts)), width * size, height, size);
  const rgb = new Uint32Array(width * height);
  for (let pixel = 0; pixel < rgb.length; pixel++) rgb[pixel] = bytes.readUIntBE(pixel * size, 3);
  return { width, height, rgb };
}

/** Each row begins with the rule by which its bytes were written as differences; see the PNG specification, 9.2. */
function undoFilters(raw: Buffer, stride: number, height: number, size: number): Buffer {
  const bytes = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const rule = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= size ? (bytes[at - size] ?? 0) : 0;
      const above = y > 0 ? (bytes[at - stride] ?? 0) : 0;
      const corner = x >= size && y > 0 ? (bytes[at - stride - size] ?? 0) : 0;
      bytes[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + predict(rule, left, above, corner);
    }
  }
  return bytes;
}

function predict(rule: number, left: number, above: number, corner: number): number {
  if (rule === 1) return left;
  if (rule === 2) return above;
  if (rule === 3) return (left + above) >> 1;
  if (rule !== 4) return 0;
  const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}
