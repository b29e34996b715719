import { isDeepStrictEqual } from 'node:util';
import type { Change, ChangeResult, Published } from '../core/lesson.ts';
import { applyChange } from './apply-change.ts';
import type { DraftStep } from './draft.ts';
import { type Refused, targetOf } from './read-change.ts';
import type { ReadSet } from './read-set.ts';
import type { SetRecord, Shelf } from './shelf.ts';

/**
 * The results for a set that was published before: the recorded result for each change that took effect then, and for the
 * others what would happen now. Nothing is applied.
 */
export function answerAgain(libraryState: Shelf, set: ReadSet, record: SetRecord, at: number): Published {
  let next = 0;
  const results = set.changes.map((change): ChangeResult => {
    const step = record.steps[next];
    if (step !== undefined && isSame(set, change, step)) {
      next++;
      return step.result;
    }
    return resultNow(libraryState, set, change, at);
  });
  return { generation: record.generation, results };
}

/**
 * Whether a recorded step is this change. Its text may have been redacted on its way to the log; then all other fields
 * are compared.
 */
function isSame(set: ReadSet, change: Change | Refused, step: DraftStep): boolean {
  if (isDeepStrictEqual(change, step.change)) return true;
  if (set.changes.some((other) => isDeepStrictEqual(other, step.change))) return false;
  return isDeepStrictEqual(withoutText(change), withoutText(step.change));
}

const withoutText = (change: Change | Refused): object => ({
  ...change,
  text: undefined,
  reason: undefined,
});

function resultNow(libraryState: Shelf, set: ReadSet, change: Change | Refused, at: number): ChangeResult {
  if (!('op' in change)) return change;
  const { result } = applyChange(libraryState, change, set.by, at);
  if (result.status !== 'applied') return result;
  const why = `the set ${set.id} was published before, without this: publish it in a new set`;
  return { status: 'refused', id: targetOf(change), why };
}
