import { compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { lessonSubject } from '../../core/trial.ts';
import { tQuantile } from '../../stats/distributions.ts';
import { countOutcomes, meanOfTasks } from '../../stats/effect-posterior.ts';
import { plural } from '../../text/phrases.ts';
import type { TaskDifferences, TrialRecord, Trials } from './fold-trials.ts';
import { createTestQueues, isMeasured, testScopeOf } from './hold-out.ts';
import { type EffectVerdict, sessionsStillNeeded } from './judge-effect.ts';
import type { LessonEffects } from './lesson-effects.ts';
import { taskMeans, weighLesson } from './weigh-lesson.ts';

/** The trial of the text that a lesson has now. */
export const trialOf = ({ id, revision }: Lesson, trials: Pick<Trials, 'of'>): TrialRecord | undefined =>
  trials.of(lessonSubject(id, revision));

/** Lessons on trial that only their owner can decide about: what was measured of them, if anything, decides nothing. */
export const isForOwner = ({ end }: Pick<TrialRecord, 'end'>): boolean =>
  end?.outcome === 'untested' || end?.outcome === 'no-difference';

/** Where a trial stands, in words; a sentence without its subject. Undefined for a lesson without a trial. */
export function describeTrial(trial: TrialRecord | undefined): string | undefined {
  if (trial === undefined) return undefined;
  const { end, begun } = trial;
  const pairs = begun.tasks + begun.replay;
  if (end === undefined)
    return pairs === 0 ? 'waits for its first test' : `being tested: ${trialFigures(trial)}`;
  const isWeak = end.outcome !== 'untested' && trial.differences.tasks.size === 0 && begun.replay > 0;
  const words = { helpful: 'helps', harmful: 'harms', 'no-difference': 'no verdict', untested: '' }[
    end.outcome
  ];
  const weak = isWeak ? ' (weaker evidence: a judge compared answers, no task was checked)' : '';
  return words === '' ? end.why : `${words}: ${end.why}${weak}`;
}

const LONGEST_EFFECT = 400;

/** What was measured of a lesson that helps, with its interval; undefined for a lesson that is not proven. */
export function provenEffect(
  lesson: Lesson,
  trials: Pick<Trials, 'of'>,
  effects: Pick<LessonEffects, 'sessionsOf' | 'verdict'>,
): string | undefined {
  const trial = trialOf(lesson, trials);
  if (trial?.end?.outcome === 'helpful') return trialFigures(trial).slice(0, LONGEST_EFFECT);
  if (effects.verdict(lesson.id) !== 'helpful') return undefined;
  const arms = effects.sessionsOf(lesson.id);
  const [shown, without] = [arms.with, arms.without].map((arm) => Math.round(countOutcomes(arm)));
  return `real sessions came out better with it: ${shown} with and ${without} without`;
}

/** For `lessons show --json` and the like. */
export function encodeTrial(trial: TrialRecord): JsonObject {
  const { place, openedAt, until, begun, used, end, differences } = trial;
  const mean = (tasks: TaskDifferences): number | undefined => meanOfTasks(taskMeans(tasks))?.mean;
  return compact({
    place,
    since: new Date(openedAt).toISOString(),
    until: new Date(until).toISOString(),
    pairs: begun.tasks + begun.replay,
    tasks: countTasks(trial),
    difference: mean(differences.tasks),
    preference: mean(differences.replay),
    identity: trial.identity && mean(trial.identity),
    tokens: used.tokens,
    outcome: end?.outcome,
    why: end?.why,
    words: describeTrial(trial),
  });
}

/** Tasks that attempts were made at; variations of one are one. */
const countTasks = ({ differences }: Pick<TrialRecord, 'differences'>): number =>
  new Set([...differences.tasks.keys(), ...differences.replay.keys()]).size;

/** `+0.31 [+0.12, +0.48] in 44 pairs of attempts at 9 tasks`. */
export function trialFigures({
  differences,
  identity,
}: Pick<TrialRecord, 'differences' | 'identity'>): string {
  const parts = (['tasks', 'replay'] as const).flatMap((method) => {
    const tasks = differences[method];
    if (tasks.size === 0) return [];
    const pairs = [...tasks.values()].reduce((sum, one) => sum + one.pairs, 0);
    const what =
      method === 'tasks'
        ? plural(pairs, 'pair of attempts', 'pairs of attempts')
        : plural(pairs, 'pair of answers that a judge compared', 'pairs of answers that a judge compared');
    return [`${figures(tasks)} in ${what}`];
  });
  if (parts.length === 0) return 'by real sessions with and without it';
  const ofIdentity = identity === undefined ? '' : `; how far it keeps the identity: ${figures(identity)}`;
  return `${parts.join(', ')} at ${plural(countTasks({ differences }), 'task')}${ofIdentity}`;
}

/** The 95 % interval of the mean over tasks. */
export function trialInterval(tasks: TaskDifferences): { readonly low: number; readonly high: number } {
  const { mean, standardError, degrees } = meanOfTasks(taskMeans(tasks)) ?? {
    mean: 0,
    standardError: 1,
    degrees: 1,
  };
  const half = tQuantile(0.975, degrees) * standardError;
  return { low: Math.max(-1, mean - half), high: Math.min(1, mean + half) };
}

function figures(tasks: TaskDifferences): string {
  const { low, high } = trialInterval(tasks);
  return `${signed(meanOfTasks(taskMeans(tasks))?.mean ?? 0)} [${signed(low)}, ${signed(high)}]`;
}

export const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

/** What is known of a lesson's effect, as `lessons list --json` prints it. */
interface LessonEffect {
  readonly verdict: EffectVerdict;
  /** Sessions with it and without it, silent ones included. */
  readonly with: number;
  readonly without: number;
  /** The date by which it is decided or a person is asked; while it has no verdict. */
  readonly decideBy?: string;
  /** About how many more sessions decide; while it is under test. */
  readonly needed?: number;
  readonly words: string;
}

interface EffectSource {
  readonly library: Pick<Library, 'lessons' | 'generation'>;
  readonly effects: LessonEffects;
  readonly trials: Pick<Trials, 'of'>;
}

/** Undefined for a lesson that no measurement decides about: a person's word is kept, whatever it does. */
export function createDescribeEffect({
  library,
  effects,
  trials,
}: EffectSource): (lesson: Lesson) => LessonEffect | undefined {
  const queues = createTestQueues(library, effects);
  return (lesson) => {
    if (!isMeasured(lesson)) return undefined;
    const verdict = effects.verdict(lesson.id);
    const arms = effects.sessionsOf(lesson.id);
    const count = {
      with: Math.round(countOutcomes(arms.with)),
      without: Math.round(countOutcomes(arms.without)),
    };
    const sessions = `${plural(count.with, 'session')} with it, ${count.without} without`;
    if (verdict !== 'unknown') return { verdict, ...count, words: `${VERDICTS[verdict]}: ${sessions}` };
    const queue = queues().get(testScopeOf(lesson)) ?? [];
    if (!queue.some(({ id }) => id === lesson.id))
      return { verdict, ...count, words: `not measured: ${sessions}` };
    const trial = trialOf(lesson, trials);
    const day = trial && dayOf(trial.until);
    const date = trial === undefined ? {} : { decideBy: new Date(trial.until).toISOString() };
    if (queue[0]?.id !== lesson.id) {
      const words = `in use, waits for its test${day === undefined ? '' : `, decided by ${day}`}`;
      return { verdict, ...count, ...date, words };
    }
    const needed = sessionsStillNeeded(weighLesson(lesson, trial, effects), count.with + count.without);
    const words = `on trial${day === undefined ? '' : ` until ${day}`}: ${sessions}; too early to tell (about ${needed} more)`;
    return { verdict, ...count, ...date, needed, words };
  };
}

const VERDICTS = { helpful: 'helps', harmful: 'harms', 'no-difference': 'no difference seen' } as const;

const dayOf = (at: number): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long' });
