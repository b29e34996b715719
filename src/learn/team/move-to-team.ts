import type { Clock } from '../../core/clock.ts';
import type { ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import { TEAM_AUTHOR } from '../../lessons/change-permissions.ts';
import { readTrials, type Trials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { readSharing } from '../../lessons/fold-members.ts';
import { TEAM_LEARNER, teamLesson, withdrawLessons } from '../../lessons/team-lesson.ts';
import { plural } from '../../text/phrases.ts';
import { decidedLearner } from '../cycle.ts';
import type { CompareQuotes } from '../distiller/same-rule.ts';
import { type Autonomy, autonomyRule } from '../gate/autonomy-rule.ts';
import { decidedPiece, type LearnerRow, type LearningPieces } from '../runner.ts';
import { findMoves } from './find-moves.ts';

interface MoveOptions {
  readonly library: Library;
  readonly effects: LessonEffects;
  readonly records: Pick<Records, 'events'>;
  readonly compareQuotes: CompareQuotes;
  readonly autonomy: Autonomy;
  readonly checkText: (text: unknown) => string | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

/** A home of one person costs these rows a look at the library. */
const hasMembers = (library: Library): boolean =>
  library.lessons().some(({ text }) => text.scope.member !== undefined);

/** Withdraws what rests on members who opted out, whoever was told so and whatever became of that process. */
export const createOptOutRow = ({
  library,
  records,
}: Pick<MoveOptions, 'library' | 'records'>): LearnerRow => ({
  name: 'opt-out',
  isAlways: true,
  due: () => hasMembers(library),
  learn: decidedLearner('opt-out'),
  material: async function* () {
    const withdrawn = withdrawLessons(library, (await readSharing(records)).optedOut);
    if (withdrawn !== undefined) yield decidedPiece(withdrawn.set);
  },
});

/**
 * Moves what several members have learned to the team, once the words passed their test. The gate judged them when they were learned,
 * and they do not change; the autonomy decides, and the team's lesson begins with a trial of its own.
 */
export function createTeamRow(options: MoveOptions): LearnerRow {
  const { library, effects, records, compareQuotes, clock, newId } = options;
  let looked: { readonly generation: number; readonly scored: number; readonly changes: number } | undefined;
  async function* move(): LearningPieces {
    const lessons = library.lessons();
    const { mayShare, changes } = await readSharing(records);
    const trials = await readTrials(records);
    const scored = countScored(lessons, effects, trials);
    // Nothing else makes a move possible but a new lesson, a verdict, what the sessions of several show, and a member who shares again.
    const { generation } = library;
    if (looked?.generation === generation && looked.scored === scored && looked.changes === changes) return;
    looked = { generation, scored, changes };
    for (const { sources, effect } of await findMoves({
      lessons,
      trials,
      effects,
      mayShare,
      compareQuotes,
    })) {
      // A member may have opted out since. Whoever does so after this look is withdrawn by the next run, which the change below wakes.
      const still = await readSharing(records);
      if (!sources.every(({ text }) => still.mayShare(text.scope.member))) continue;
      const [first] = sources;
      const ruling = autonomyRule(options.autonomy, first.kind, first.text.content);
      const change = teamLesson(sources, ruling.outcome === 'proposed' ? 'proposed' : 'trial');
      if (options.checkText(change.text) !== undefined) continue;
      const set: ChangeSet = {
        id: `team-${change.id}`,
        by: { kind: 'instar', name: TEAM_AUTHOR },
        reason: `${plural(sources.length, 'member')} have learned it: ${effect}`,
        changes: [change],
      };
      yield {
        id: newId('cycle'),
        material: { set, why: ruling.why },
        cases: [],
        items: [],
        facts: (end) => [{ at: Math.round(clock.now()), fact: end }],
      };
    }
  }
  return {
    name: TEAM_LEARNER,
    due: () => hasMembers(library),
    learn: decidedLearner(TEAM_LEARNER),
    material: move,
  };
}

/** How much was measured, in steps: a single session decides nothing. */
function countScored(
  lessons: readonly Lesson[],
  effects: LessonEffects,
  trials: Pick<Trials, 'passed'>,
): number {
  const ofMembers = lessons.filter(({ text }) => text.scope.member !== undefined);
  const leaning = ofMembers.map(({ id }) => Math.max(0, Math.floor(2 * effects.evidence(id).better)));
  const helpful = lessons.filter(({ id }) => effects.verdict(id) === 'helpful').length;
  return helpful + trials.passed('lesson') + leaning.reduce((sum, one) => sum + one, 0);
}
