import { setImmediate as nextTick } from 'node:timers/promises';

/** Slots looked at in one go: a millisecond's work, or two. */
const SLICE = 16_384;

/** Goes over so many slots in pieces, with a pause between two of them for whatever else waits. */
export async function inSlices(length: number, work: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < length; from += SLICE) {
    if (from > 0) await nextTick();
    work(from, Math.min(from + SLICE, length));
  }
}
