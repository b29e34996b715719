import type { Clock } from '../../core/clock.ts';
import type { ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import { TEAM_AUTHOR } from '../../lessons/change-permissions.ts';
import { provenEffect } from '../../lessons/effect/describe-trial.ts';
import { readTrials, type Trials } from '../../lessons/effect/fold-trials.ts';
import { judgeEffect } from '../../lessons/effect/judge-effect.ts';
import type { LessonEffects, LessonSessions } from '../../lessons/effect/lesson-effects.ts';
import { weighLesson } from '../../lessons/effect/weigh-lesson.ts';
import { type MayShare, readSharing } from '../../lessons/fold-members.ts';
import { isOfTeam } from '../../lessons/member-library.ts';
import { isSameInPlainWords } from '../../lessons/similar/plain-words.ts';
import {
  TEAM_LEARNER,
  teamLesson,
  teamLessonId,
  whyNotForTeam,
  withdrawLessons,
} from '../../lessons/team-lesson.ts';
import { addOutcomes, countOutcomes, NO_OUTCOMES } from '../../stats/effect-posterior.ts';
import { plural } from '../../text/phrases.ts';
import { type CompareQuotes, isAlike, isSameInWords, type Likeness } from '../compare-words.ts';
import { decidedLearner } from '../cycle.ts';
import { readKnown } from '../distiller/known-lessons.ts';
import { type Autonomy, autonomyRule } from '../gate/autonomy-rule.ts';
import { ruleOf } from '../memory/kept-lessons.ts';
import { decidedPiece, type LearnerRow, type LearningPieces } from '../runner.ts';

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
  const sessions = ofMembers.map(({ id }) => Math.floor(countOutcomes(effects.sessionsOf(id).without) / 2));
  const helpful = lessons.filter(({ id }) => effects.verdict(id) === 'helpful').length;
  return helpful + trials.passed('lesson') + sessions.reduce((sum, one) => sum + one, 0);
}

interface MoveSource {
  readonly lessons: readonly Lesson[];
  readonly trials: Pick<Trials, 'of'>;
  readonly effects: Pick<LessonEffects, 'sessionsOf' | 'verdict' | 'all' | 'decided' | 'version'>;
  readonly mayShare: MayShare;
  /** Tells whether two members said the same in other words. */
  readonly compareQuotes: CompareQuotes;
}

/** A rule that several members have, and what was measured of the words that would move. */
interface FoundMove {
  /** The one whose words move first, then one of every other member. */
  readonly sources: readonly [Lesson, ...Lesson[]];
  readonly effect: string;
}

/** All pairs are compared. */
const MOST_LESSONS = 400;
const FEWEST_MEMBERS = 2;

/**
 * Rules that the evidence of at least two members supports, and that passed their test: a lesson of one of them was measured to help, in
 * its trial or in real sessions, or the sessions of all of them together show it. Only members who share count, and only their words
 * move. Nothing is changed.
 */
async function findMoves(source: MoveSource): Promise<readonly FoundMove[]> {
  const { lessons, trials, effects, mayShare, compareQuotes } = source;
  const mine = lessons
    .filter((lesson) => whyNotForTeam(lesson) === undefined && mayShare(lesson.text.scope.member))
    // A lesson without evidence of conversations supports nothing.
    .filter(({ text }) => text.evidence.turns.length > 0)
    .slice(-MOST_LESSONS);
  if (new Set(mine.map(({ text }) => text.scope.member)).size < FEWEST_MEMBERS) return [];
  const known = new Set(lessons.map(({ id }) => id));
  const moved = new Set(
    lessons
      .filter(isOfTeam)
      .flatMap(({ state, text }) =>
        state === 'retired' ? [] : (text.evidence.team ?? []).map(({ lesson }) => lesson),
      ),
  );
  const likeness = await compareQuotes(mine.map(ruleOf));
  const found = mine.flatMap((lesson): readonly FoundMove[] => {
    if (moved.has(lesson.id) || known.has(teamLessonId(lesson))) return [];
    const others = new Map<string, Lesson>();
    for (const other of mine) {
      const { member = '' } = other.text.scope;
      if (member === (lesson.text.scope.member ?? '') || others.has(member)) continue;
      // What harms one of them is no support.
      if (isSameRule(lesson, other, likeness) && effects.verdict(other.id) !== 'harmful')
        others.set(member, other);
    }
    const sources: readonly [Lesson, ...Lesson[]] = [lesson, ...others.values()];
    if (sources.length < FEWEST_MEMBERS) return [];
    const effect = provenEffect(lesson, trials, effects) ?? pooledEffect(sources, effects);
    // Of two that were both measured the older one's words move.
    const isLater = [...others.values()].some(
      (other) => provenEffect(other, trials, effects) !== undefined && other.createdAt < lesson.createdAt,
    );
    return effect === undefined || isLater ? [] : [{ sources, effect }];
  });
  // Rules that are alike in pairs: what is said already is not said again.
  const taken = new Set<string>();
  return found.filter(({ sources }) => {
    const isNew = sources.every(({ id }) => !taken.has(id));
    for (const { id } of isNew ? sources : []) taken.add(id);
    return isNew;
  });
}

/** What the sessions of all who have a rule show together; undefined when that is too little, or when another one's words were shown more. */
function pooledEffect(
  sources: readonly [Lesson, ...Lesson[]],
  effects: MoveSource['effects'],
): string | undefined {
  const arms = sources.map(({ id }) => effects.sessionsOf(id));
  const [own = 0, ...others] = arms.map((one) => countOutcomes(one.with) + countOutcomes(one.without));
  if (others.some((sessions) => sessions > own)) return undefined;
  const sumOf = (arm: keyof LessonSessions) =>
    arms.map((one) => one[arm]).reduce((all, one) => addOutcomes(all, one), NO_OUTCOMES);
  const [shown, without] = [sumOf('with'), sumOf('without')];
  const together = weighLesson(sources[0], undefined, {
    ...effects,
    sessionsOf: () => ({ with: shown, without, scored: sumOf('scored') }),
  });
  if (countOutcomes(without) === 0 || judgeEffect(together) !== 'helpful') return undefined;
  return `real sessions of all of them came out better with it: ${countOutcomes(shown)} with and ${countOutcomes(without)} without`;
}

function isSameRule(a: Lesson, b: Lesson, likeness: Likeness): boolean {
  if (isSameInPlainWords(ruleOf(a), ruleOf(b))) return true;
  const [one, other] = [readKnown(a), readKnown(b)];
  if (one.quoted === undefined || other.quoted === undefined) return false;
  return one.words.some((words) =>
    other.words.some((theirs) => isSameInWords(words, theirs) || isAlike(words, theirs, likeness)),
  );
}
