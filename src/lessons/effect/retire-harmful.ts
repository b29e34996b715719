import { hash } from 'node:crypto';
import type { Author, Change, ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isPersonsWord } from '../told.ts';
import type { LessonEffects } from './lesson-effects.ts';
import type { LessonEffect } from './measure-effect.ts';

export interface RetireHarmfulOptions {
  readonly effects: Pick<LessonEffects, 'of' | 'verdict'>;
  readonly library: Pick<Library, 'lessons' | 'history'>;
  readonly by: Author;
}

/**
 * The change set that retires the lessons whose whole interval lies below zero; undefined when there are none. It can be
 * undone like any set; a lesson that someone restored is not retired again with the same text.
 */
export function retireHarmful({ effects, library, by }: RetireHarmfulOptions): ChangeSet | undefined {
  const harmful = library
    .lessons()
    .filter(({ id }) => effects.verdict(id) === 'harmful')
    .filter((lesson) => isRetirable(lesson, library, by));
  if (harmful.length === 0) return undefined;
  const changes = harmful.map(({ id }): Change => ({ op: 'retire', id, reason: reasonOf(effects.of(id)) }));
  const names = harmful.map(({ text }) => text.name).join(', ');
  const marks = harmful.map(({ id, revision }, at) => [id, revision, changes[at]]);
  return {
    id: `harmful-${hash('sha256', JSON.stringify(marks), 'hex').slice(0, 24)}`,
    by,
    reason: `sessions come out worse with ${names} than without`,
    changes,
  };
}

/** Whether an author that measured harm may retire a lesson. A person's decision to bring it back stands. */
export const isRetirable = (lesson: Lesson, library: Pick<Library, 'history'>, by: Author): boolean =>
  mayRetire(lesson, by) && !wasRestored(lesson, library, by);

const mayRetire = (lesson: Lesson, by: Author): boolean =>
  (lesson.state === 'trial' || lesson.state === 'live') &&
  !lesson.pinned &&
  (by.kind === 'person' || !(lesson.frozen || isPersonsWord(lesson)));

/** Retired for this before at the same revision, and restored since: the person's decision stands. */
const wasRestored = ({ id, revision }: Lesson, library: Pick<Library, 'history'>, by: Author): boolean =>
  library
    .history(id)
    .some(
      (event) =>
        event.state === 'retired' &&
        event.revision === revision &&
        event.by.kind === by.kind &&
        event.by.name === by.name,
    );

function reasonOf({ with: shown, without, difference, low, high }: LessonEffect): string {
  return (
    `harmful: ${shown.n} sessions with it scored ${plain(shown.mean)} on average and ${without.n} without it ` +
    `${plain(without.mean)}; the difference of ${plain(difference)} lies between ${plain(low)} and ${plain(high)}, ` +
    'at any time of looking'
  );
}

const plain = (value: number | null): string => (value ?? 0).toFixed(3).replace('-', '−');
