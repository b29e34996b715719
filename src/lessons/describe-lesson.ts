import { compact, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { Adherence } from './adherence/adherence.ts';
import { describeAdherence } from './adherence/adherence.ts';
import { isActive } from './change-permissions.ts';
import { whyNotOfKind } from './check-overlay.ts';
import { encodeCheck } from './checks/persons-check.ts';
import { encodeTrial } from './effect/describe-trial.ts';
import type { Trials } from './effect/fold-trials.ts';
import { closingOf } from './explain/closed-by.ts';
import { measurementOf } from './identity-measurement.ts';
import { tierOf } from './identity-tier.ts';
import { lessonHash } from './lesson-hash.ts';
import { titleOf } from './title.ts';

interface DescribeLessonOptions {
  readonly library: Library;
  /** The measured effect of a lesson. */
  readonly effect: (id: string) => JsonObject | undefined;
  /** How sessions kept to the lessons. */
  readonly adherence: () => Adherence;
}

/** A lesson for a list: what it is, its state, its effect, and the trial that measures it. */
export const createDescribeLesson =
  ({ library, effect, adherence }: DescribeLessonOptions) =>
  (lesson: Lesson, trials: Pick<Trials, 'of'>): JsonObject => {
    const closing = closingOf(lesson, library);
    const trial = measurementOf(lesson, library, trials);
    return {
      ...summary(lesson),
      ...(closing === undefined
        ? {}
        : { closed: { by: closing.by, words: closing.words, undo: closing.undo } }),
      ...(lesson.check === undefined ? {} : encodeCheck(lesson)),
      adherence: describeAdherence(lesson, adherence()),
      ...compact({ effect: effect(lesson.id) }),
      ...(trial === undefined ? {} : { trial: encodeTrial(trial) }),
    };
  };

const summary = (lesson: Lesson): JsonObject =>
  compact({
    id: lesson.id,
    kind: lesson.kind,
    name: lesson.text.name,
    title: titleOf(lesson),
    description: lesson.text.description,
    state: lesson.state,
    revision: lesson.revision,
    scope: { ...lesson.text.scope },
    source: lesson.text.note.source,
    taint: lesson.text.taint.length > 0 ? [...lesson.text.taint] : undefined,
    isAlways: lesson.text.note.isAlways,
    tier: tierOf(lesson),
    pinned: lesson.pinned || undefined,
    frozen: lesson.frozen || undefined,
    expiresAt: lesson.expiresAt === undefined ? undefined : new Date(lesson.expiresAt).toISOString(),
    reason: lesson.reason ?? unusedReason(lesson),
    isUnused: unusedReason(lesson) === undefined ? undefined : true,
    mergedInto: lesson.mergedInto,
    supersededBy: lesson.supersededBy,
    changedAt: new Date(lesson.changedAt).toISOString(),
    hash: lessonHash(lesson.text),
  });

/** Of a lesson in an old record that nothing can read; undefined for one that is not meant to be in use. */
const unusedReason = ({ kind, state, text }: Lesson): string | undefined => {
  const why = isActive(state) ? whyNotOfKind(kind, text) : undefined;
  return why === undefined ? undefined : `not in use: ${why}`;
};
