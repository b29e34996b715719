import type { Clock } from '../../core/clock.ts';
import { NO_COST } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import { TEAM_AUTHOR } from '../../lessons/change-permissions.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { readSharing } from '../../lessons/fold-members.ts';
import { TEAM_LEARNER, teamLesson, withdrawLessons } from '../../lessons/team-lesson.ts';
import { plural } from '../../text/phrases.ts';
import type { CompareQuotes } from '../distiller/same-rule.ts';
import type { WriteFacts } from '../evolve-step.ts';
import { type Autonomy, autonomyRule } from '../gate/autonomy-rule.ts';
import { findMoves } from './find-moves.ts';

interface MoveStepOptions {
  readonly library: Library;
  readonly effects: LessonEffects;
  readonly records: Pick<Records, 'events'>;
  readonly compareQuotes: CompareQuotes;
  readonly autonomy: Autonomy;
  readonly checkText: (text: unknown) => string | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

/**
 * Moves what several members have learned to the team, once the words passed their test. The gate judged them when they were learned,
 * and they do not change; the autonomy decides, and the team's lesson begins with a trial of its own. Before, it withdraws what rests on
 * members who opted out, whoever was told so and whatever became of that process, also while learning is off. A home of one person costs
 * it a look at the library.
 */
export function createMoveStep(
  options: MoveStepOptions,
): (write: WriteFacts, isStopped: () => boolean) => Promise<void> {
  const { library, effects, records, compareQuotes, clock, newId } = options;
  let looked: { readonly generation: number; readonly scored: number; readonly changes: number } | undefined;
  return async (write, isStopped) => {
    const lessons = library.lessons();
    if (lessons.every(({ text }) => text.scope.member === undefined)) return;
    const { mayShare, optedOut, changes } = await readSharing(records);
    const withdrawn = withdrawLessons(library, optedOut);
    if (withdrawn !== undefined) await library.publish(withdrawn.set);
    if (isStopped()) return;
    const trials = await readTrials(records);
    const ofMembers = lessons.filter(({ text }) => text.scope.member !== undefined);
    // In steps: a single session decides nothing.
    const leaning = ofMembers.map(({ id }) => Math.max(0, Math.floor(2 * effects.evidence(id).better)));
    const scored =
      lessons.filter(({ id }) => effects.verdict(id) === 'helpful').length +
      trials.passed('lesson') +
      leaning.reduce((sum, one) => sum + one, 0);
    // Nothing else makes a move possible but a new lesson, a verdict, what the sessions of several show, and a member who shares again.
    const { generation: now } = library;
    if (looked?.generation === now && looked.scored === scored && looked.changes === changes) return;
    looked = { generation: now, scored, changes };
    for (const { sources, effect } of await findMoves({
      lessons,
      trials,
      effects,
      mayShare,
      compareQuotes,
    })) {
      if (isStopped()) return;
      // A member may have opted out since. Whoever does so after this look is withdrawn by the next run, which the change below wakes.
      const still = await readSharing(records);
      if (!sources.every(({ text }) => still.mayShare(text.scope.member))) continue;
      const startedAt = clock.monotonic();
      const [first] = sources;
      const ruling = autonomyRule(options.autonomy, first.kind, first.text.content);
      const state = ruling.outcome === 'proposed' ? 'proposed' : 'trial';
      const change = teamLesson(sources, state);
      if (options.checkText(change.text) !== undefined) continue;
      const reason = `${plural(sources.length, 'member')} have learned it: ${effect}`;
      const set = `team-${change.id}`;
      const by = { kind: 'instar', name: TEAM_AUTHOR } as const;
      const { results, generation } = await library.publish({ id: set, by, reason, changes: [change] });
      const isDone = results[0]?.status === 'applied';
      const why = results[0]?.status === 'refused' ? [results[0].why] : ruling.why;
      const outcome = isDone ? state : 'refused';
      await write([
        {
          at: Math.round(clock.now()),
          fact: {
            type: 'cycle-end',
            cycle: newId('cycle'),
            learner: TEAM_LEARNER,
            outcome: isDone ? (state === 'trial' ? 'published' : 'queued') : 'refused',
            items: [],
            turns: [],
            judgements: [{ lesson: change.id, name: change.text.name, outcome, why }],
            ...(isDone ? { set } : {}),
            generation,
            cost: NO_COST,
            tookMs: Math.round(clock.monotonic() - startedAt),
          },
        },
      ]);
    }
  };
}
