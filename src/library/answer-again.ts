import { isDeepStrictEqual } from 'node:util';
import type { Change, ChangeResult, Published } from '../core/lesson.ts';
import { applyChange } from './apply-change.ts';
import type { DraftStep } from './draft.ts';
import { type Refused, targetOf } from './read-change.ts';
import type { ReadSet } from './read-set.ts';
import type { SetRecord, Shelf } from './shelf.ts';

/**
 * What a set that has taken effect before is answered now: what its record says of the changes that are in it, and of
 * the others how they stand. Nothing is applied.
 */
export function answerAgain(shelf: Shelf, set: ReadSet, record: SetRecord, at: number): Published {
  let next = 0;
  const results = set.changes.map((change): ChangeResult => {
    const step = record.steps[next];
    if (step !== undefined && isSame(set, change, step)) {
      next++;
      return step.result;
    }
    return standing(shelf, set, change, at);
  });
  return { generation: record.generation, results };
}

/**
 * Whether a recorded step is this change. Its words may have been redacted on their way to the log; then it is known by
 * everything else.
 */
function isSame(set: ReadSet, change: Change | Refused, step: DraftStep): boolean {
  if (isDeepStrictEqual(change, step.change)) return true;
  if (set.changes.some((other) => isDeepStrictEqual(other, step.change))) return false;
  return isDeepStrictEqual(withoutWords(change), withoutWords(step.change));
}

const withoutWords = (change: Change | Refused): object => ({
  ...change,
  text: undefined,
  reason: undefined,
});

function standing(shelf: Shelf, set: ReadSet, change: Change | Refused, at: number): ChangeResult {
  if (!('op' in change)) return change;
  const { result } = applyChange(shelf, change, set.by, at);
  if (result.status !== 'applied') return result;
  const why = `the set ${set.id} was published before, without this: publish it in a new set`;
  return { status: 'refused', id: targetOf(change), why };
}
