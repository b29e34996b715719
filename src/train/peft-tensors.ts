import { createHash } from 'node:crypto';
import { DecodeError } from '../base/decode-error.ts';
import { dtypeBytes, openSafetensors, type SafetensorsFile, type TensorEntry } from '../base/safetensors.ts';
import { TrainingError } from '../core/training.ts';

export interface TensorFile {
  readonly entries: readonly TensorEntry[];
  readonly sha256: string;
}

/** Whether the number whose little-endian bytes begin at an index is infinite or NaN, by its type. */
const IS_NOT_FINITE: Readonly<Record<string, (data: Uint8Array, at: number) => boolean>> = {
  F64: (d, i) => (at(d, i + 7) & 0x7f) === 0x7f && at(d, i + 6) >= 0xf0,
  F32: (d, i) => (at(d, i + 3) & 0x7f) === 0x7f && at(d, i + 2) >= 0x80,
  F16: (d, i) => (at(d, i + 1) & 0x7c) === 0x7c,
  BF16: (d, i) => (at(d, i + 1) & 0x7f) === 0x7f && at(d, i) >= 0x80,
};
const at = (data: Uint8Array, index: number): number => data[index] ?? 0;

/** A multiple of the size of every type. */
const CHUNK_BYTES = 4 * 2 ** 20;

/**
 * Reads a safetensors file from end to end in chunks. Throws a TrainingError when it is truncated, has bytes that belong to
 * no tensor, or holds a number that is not finite.
 */
export async function checkTensorFile(file: string): Promise<TensorFile> {
  try {
    const tensors = await openSafetensors(file);
    try {
      checkLayout(tensors);
      const sha = createHash('sha256').update(tensors.header);
      for (const entry of tensors.entries) await checkNumbers(tensors, entry, (data) => sha.update(data));
      return { entries: tensors.entries, sha256: sha.digest('hex') };
    } finally {
      await tensors.close();
    }
  } catch (error) {
    throw error instanceof DecodeError ? refused(error.message) : error;
  }
}

const refused = (detail: string): TrainingError =>
  new TrainingError('server', `adapter_model.safetensors is refused: ${detail}`);

/** The tensors fill the file without gaps and without an overlap. */
function checkLayout({ size, header, entries }: SafetensorsFile): void {
  let end = 0;
  for (const { name, dtype, from, to } of entries) {
    if (IS_NOT_FINITE[dtype] === undefined)
      throw refused(`${name} is ${dtype}; ${Object.keys(IS_NOT_FINITE).join(', ')} are supported`);
    if (from !== end)
      throw refused(`${name} begins at byte ${from} and the tensor before it ends at byte ${end}`);
    end = to;
  }
  const wanted = header.length + end;
  if (wanted > size) throw refused(`it is truncated: ${size} bytes of ${wanted}`);
  if (wanted < size) throw refused(`${size - wanted} bytes at its end belong to no tensor`);
}

async function checkNumbers(
  file: SafetensorsFile,
  { name, dtype, from, to }: TensorEntry,
  onData: (data: Uint8Array) => void,
): Promise<void> {
  const isNotFinite = IS_NOT_FINITE[dtype];
  const width = dtypeBytes(dtype);
  for (let place = from; place < to; place += CHUNK_BYTES) {
    const data = new Uint8Array(Math.min(CHUNK_BYTES, to - place));
    await file.read(place, data);
    onData(data);
    for (let index = 0; index < data.length; index += width)
      if (isNotFinite?.(data, index))
        throw refused(`number ${(place - from + index) / width} of ${name} is not finite`);
  }
}
