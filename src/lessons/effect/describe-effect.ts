import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { countOutcomes } from '../../stats/effect-posterior.ts';
import { plural } from '../../text/phrases.ts';
import { trialOf } from './describe-trial.ts';
import type { Trials } from './fold-trials.ts';
import { createTestQueues, isMeasured, testScopeOf } from './hold-out.ts';
import { type EffectVerdict, sessionsStillNeeded } from './judge-effect.ts';
import type { LessonEffects } from './lesson-effects.ts';
import { weighLesson } from './weigh-lesson.ts';

/** What is known of a lesson's effect, as `lessons list --json` prints it. */
export interface LessonEffect {
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
