import type { Author, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EffectPosterior } from '../../stats/effect-posterior.ts';

export type EffectVerdict = 'helpful' | 'harmful' | 'no-difference' | 'unknown';

/** Odds of 10 to 1 that it helps promote a lesson: it is cheap, and can be taken back. */
const PROMOTION_ODDS = 10;
/** What keeping it would lose exceeds what retiring it would lose as many times, and it costs at least so many points. */
const LOSS_RATIO = 12;
const LEAST_LOSS = 0.08;
/** The probability that it makes no difference that anybody would notice. */
const SURELY_SAME = 0.9;
/** One-sided, in standard deviations: odds of 10 to 1. */
const PROMOTION_DISTANCE = 1.34;
const MOST_NEEDED = 200;

/** What a posterior decides now; `unknown`: keep looking. */
export function judgeEffect({ helps, same, gain, loss, mean }: EffectPosterior): EffectVerdict {
  if (helps >= PROMOTION_ODDS * (1 - helps)) return 'helpful';
  if (loss >= LOSS_RATIO * gain && mean <= -LEAST_LOSS) return 'harmful';
  return same >= SURELY_SAME ? 'no-difference' : 'unknown';
}

/**
 * About how many more sessions decide, if what was measured so far is the truth: the distance from 0 in standard deviations grows with the root of
 * their number.
 */
export function sessionsStillNeeded({ mean, deviation }: EffectPosterior, sessions: number): number {
  const distance = Math.abs(mean) / Math.max(deviation, 1e-6);
  const all = Math.max(sessions, 4) * (PROMOTION_DISTANCE / Math.max(distance, 0.1)) ** 2;
  return Math.max(1, Math.min(MOST_NEEDED, Math.ceil(all - sessions)));
}

/** Whether an author that measured harm may retire a lesson. A person's decision to bring it back stands. */
export const isRetirable = (lesson: Lesson, library: Pick<Library, 'history'>, by: Author): boolean =>
  mayRetire(lesson, by) && !wasRestored(lesson, library, by);

const mayRetire = ({ state, pinned, frozen }: Lesson, by: Author): boolean =>
  (state === 'trial' || state === 'live') && !pinned && (!frozen || by.kind === 'person');

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
