import { isDeepStrictEqual } from 'node:util';
import type { Change, ChangeResult, PublishResult } from '../core/lesson.ts';
import type { DraftStep } from './apply-change.ts';
import { applyChange } from './apply-change.ts';
import type { DecodedChangeSet } from './codec.ts';
import { changedLessonId, type RefusedChange } from './codec.ts';
import type { LibraryState, PublishedSet } from './library-state.ts';

/**
 * The results for a set that was published before: the recorded result for each change that took effect then, and for the
 * others what would happen now. Nothing is applied.
 */
export function replayPublishedSet(
  libraryState: LibraryState,
  set: DecodedChangeSet,
  record: PublishedSet,
  at: number,
): PublishResult {
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
function isSame(set: DecodedChangeSet, change: Change | RefusedChange, step: DraftStep): boolean {
  if (isDeepStrictEqual(change, step.change)) return true;
  if (set.changes.some((other) => isDeepStrictEqual(other, step.change))) return false;
  return isDeepStrictEqual(withoutText(change), withoutText(step.change));
}

const withoutText = (change: Change | RefusedChange): object => ({
  ...change,
  text: undefined,
  reason: undefined,
});

function resultNow(
  libraryState: LibraryState,
  set: DecodedChangeSet,
  change: Change | RefusedChange,
  at: number,
): ChangeResult {
  if (!('op' in change)) return change;
  const { result } = applyChange(libraryState, change, set.by, at);
  if (result.status !== 'applied') return result;
  const why = `the set ${set.id} was published before, without this: publish it in a new set`;
  return { status: 'refused', id: changedLessonId(change), why };
}
