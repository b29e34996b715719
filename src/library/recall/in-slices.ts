import { setImmediate as nextTick } from 'node:timers/promises';

/** Slots between two pauses: one or two milliseconds of work. */
const SLICE = 16_384;

/** Runs `work` over all slots in slices, with a turn of the event loop between two slices. */
export async function inSlices(length: number, work: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < length; from += SLICE) {
    if (from > 0) await nextTick();
    work(from, Math.min(from + SLICE, length));
  }
}
