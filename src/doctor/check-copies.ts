import { statSync } from 'node:fs';
import { findGoodCopy, listCopies } from '../record/copy-files.ts';
import type { CopyPlaces } from '../record/erase-from-copies.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';

const DAY_MS = 86_400_000;
/** A daemon makes one a day, and one at its start. */
const OLD_MS = 2 * DAY_MS;
const RESTORE = 'instar doctor --restore';

/**
 * How old the newest copy is, and whether it is sound. With a store that is missing or damaged: the newest sound copy, and
 * the command that restores it. `found`: what the checks before say about the store.
 */
export function checkCopies(
  { storeFile, snapshotDir }: CopyPlaces,
  found: readonly DoctorCheck[],
  { now, isRunning }: { readonly now: number; readonly isRunning: boolean },
): DoctorCheck {
  const isMissing = !statSync(storeFile, { throwIfNoEntry: false })?.size;
  const copies = listCopies(snapshotDir);
  if (copies.length === 0) {
    const none = 'there is no copy of the record';
    return isMissing
      ? passed('copies', 'nothing to copy yet')
      : warned(
          'copies',
          none,
          isRunning
            ? 'Instar makes one every day while it runs, unless store.snapshots is 0; one now: instar data backup FILE'
            : 'start Instar: it makes one at its start and every day, unless store.snapshots is 0',
        );
  }
  const { copy, damaged } = findGoodCopy(snapshotDir);
  const bad = damaged.map(({ name }) => name).join(', ');
  if (copy === undefined)
    return failed(
      'copies',
      `no copy is sound (${bad})`,
      'copy the record to another disk: instar data backup FILE',
    );
  const age = describeAge(now - copy.at);
  const text = `${copies.length === 1 ? '1 copy' : `${copies.length} copies`}, the newest ${age} (${copy.name})`;
  const isDamaged = found.some(({ name, status }) => name.startsWith('store') && status === 'fail');
  // The store's own check has failed: this one says what helps.
  if (isMissing || isDamaged)
    return warned(
      'copies',
      `the record is ${isMissing ? 'missing' : 'damaged'}; ${text}`,
      `stop Instar, then restore it: ${RESTORE}; the file that is there now is kept beside it`,
    );
  if (damaged.length > 0)
    return warned(
      'copies',
      `${text}; damaged: ${bad}`,
      `check the disk, then delete the damaged copies in ${snapshotDir}`,
    );
  if (now - copy.at > OLD_MS)
    return warned(
      'copies',
      text,
      isRunning
        ? 'make one now: instar data backup FILE; see why there is none: instar status --why'
        : 'start Instar: it makes a copy at its start and every day',
    );
  return passed('copies', text);
}

function describeAge(ms: number): string {
  if (ms < -DAY_MS) return 'dated in the future';
  if (ms < 3_600_000) return `${Math.max(0, Math.round(ms / 60_000))} min old`;
  return ms < OLD_MS ? `${Math.round(ms / 3_600_000)} h old` : `${Math.round(ms / DAY_MS)} days old`;
}
