import { hash } from 'node:crypto';
import type { Change, ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isErasedText } from '../../lessons/codec.ts';
import { isPersonsWord, personsWords } from '../../lessons/told.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { decidedLearner } from '../cycle.ts';
import { decidedPiece, type LearnerRow } from '../runner.ts';

const BY = { kind: 'instar', name: 'told' } as const;
const LONGEST_QUOTE = 300;

/**
 * Once after a start, for a home of an earlier version: what a person told and a measurement retired waits for that person's decision, and
 * what a person told and was on trial is in force. Nothing is found where this version has learned everything.
 */
export function createReturnToldRow(library: Pick<Library, 'lessons' | 'history'>): LearnerRow {
  let isDone = false;
  return {
    name: BY.name,
    due: () => !isDone,
    learn: decidedLearner(BY.name),
    material: async function* () {
      isDone = true;
      const set = returnTold(library);
      if (set !== undefined) yield decidedPiece(set);
    },
  };
}

function returnTold(library: Pick<Library, 'lessons' | 'history'>): ChangeSet | undefined {
  const told = library.lessons().filter((lesson) => isPersonsWord(lesson) && !isErasedText(lesson.text));
  const changes = told.flatMap((lesson): readonly Change[] => {
    if (lesson.state === 'trial') return [{ op: 'move', id: lesson.id, to: 'live' }];
    return wasMeasuredAway(lesson, library)
      ? [{ op: 'move', id: lesson.id, to: 'proposed', reason: reasonFor(lesson) }]
      : [];
  });
  if (changes.length === 0) return undefined;
  const states = told.map(({ id, state, changedAt }) => [id, state, changedAt]);
  return {
    id: `told-${hash('sha256', JSON.stringify(states), 'hex').slice(0, 24)}`,
    by: BY,
    reason: 'what a person told is ended by that person only',
    changes,
  };
}

/** Retired by a measurement or for its age, and for no lesson that has its words or says otherwise. */
function wasMeasuredAway(lesson: Lesson, library: Pick<Library, 'history'>): boolean {
  const { id, state, mergedInto, supersededBy } = lesson;
  const last = library.history(id).at(-1);
  return (
    state === 'retired' &&
    mergedInto === undefined &&
    supersededBy === undefined &&
    last?.by.kind === 'instar' &&
    last.op === 'retire'
  );
}

const reasonFor = (lesson: Lesson): string =>
  `a measurement of an earlier version retired it; you said: "${truncateEnd(oneLine(personsWords(lesson)[0] ?? ''), LONGEST_QUOTE)}". Approve it to use it again, or reject it`;
