import { compact, type JsonObject } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import { countOutcomes } from '../../stats/effect-posterior.ts';
import { describeTrial, isForOwner, trialOf } from '../effect/describe-trial.ts';
import type { TrialRecord, Trials } from '../effect/fold-trials.ts';
import type { LessonEffects } from '../effect/lesson-effects.ts';
import { namesOf } from '../title.ts';
import { closingOf, rollbackInForce } from './closed-by.ts';

const MOST_NAMED = 5;

const hasPairs = (trial: TrialRecord | undefined): boolean =>
  trial !== undefined && trial.begun.tasks + trial.begun.replay > 0;

/** For `status`: the lessons that wait for a person, what retired the others, and the rollback that is in force. */
export function describeUse(
  library: Library,
  trials: Pick<Trials, 'of'>,
  effects: Pick<LessonEffects, 'sessionsOf'>,
): JsonObject {
  const proposed = library.lessons().filter(({ state }) => state === 'proposed');
  const retiredBy: Record<string, number> = {};
  for (const lesson of library.lessons()) {
    const by = closingOf(lesson, library)?.by;
    if (by !== undefined) retiredBy[by] = (retiredBy[by] ?? 0) + 1;
  }
  const onTrial = library.lessons().filter(({ state }) => state === 'trial');
  const undecided = onTrial.flatMap((lesson) => {
    const trial = trialOf(lesson, trials);
    return trial === undefined || !isForOwner(trial) ? [] : [{ lesson, trial }];
  });
  const rollback = rollbackInForce(library);
  return compact({
    proposed: proposed
      .slice(0, MOST_NAMED)
      .map(({ id, text, reason, createdAt }) =>
        compact({ id, ...namesOf({ text }), reason, at: new Date(createdAt).toISOString() }),
      ),
    proposedCount: proposed.length,
    undecided: undecided
      .slice(0, MOST_NAMED)
      .map(({ lesson, trial }) =>
        compact({ id: lesson.id, ...namesOf(lesson), reason: describeTrial(trial) }),
      ),
    undecidedCount: undecided.length,
    trials: {
      onTrial: onTrial.length,
      tested: onTrial.filter((one) => hasPairs(trialOf(one, trials))).length,
    },
    practised: describePractised(library, effects),
    retiredBy,
    rollback: rollback && { ...rollback, at: new Date(rollback.at).toISOString() },
  });
}

/** Whether what practice found is recalled at all: lessons of it in use, and how many of them a scored session had. */
function describePractised(
  library: Library,
  effects: Pick<LessonEffects, 'sessionsOf'>,
): JsonObject | undefined {
  const inUse = library
    .lessons()
    .filter(({ state, text }) => (state === 'trial' || state === 'live') && text.note.source === 'practice');
  if (inUse.length === 0) return undefined;
  return {
    inUse: inUse.length,
    shown: inUse.filter(({ id }) => countOutcomes(effects.sessionsOf(id).with) > 0).length,
  };
}
