import { plural } from '../../text/phrases.ts';
import type { LessonEffect } from './measure-effect.ts';
import { sessionsNeeded } from './sessions-needed.ts';

/** The difference that a lesson should make to be worth its tokens, in points of 100. */
const WORTH_FINDING = 50;

/** A measured effect in words, and how far its measurement is. */
export interface EffectWords {
  /** Sessions with a score, with and without the lesson. */
  readonly scored: number;
  /** About how many of them show a difference of 50 points; absent when nothing is held out. */
  readonly needed?: number;
  readonly words: string;
}

/** `not measured yet: 2 of about 90 scored sessions`, then `+0.12 [+0.02, +0.22], 40 with, 12 without: helps`. */
export function describeEffect(effect: LessonEffect, holdout: number): EffectWords {
  const { with: shown, without, difference, low, high, verdict } = effect;
  const scored = shown.n + without.n;
  const needed = sessionsNeeded(WORTH_FINDING, holdout);
  const known = { scored, ...(needed === undefined ? {} : { needed }) };
  const measured = `${signed(difference ?? 0)} [${signed(low)}, ${signed(high)}], ${shown.n} with, ${without.n} without`;
  if (verdict !== 'unknown')
    return { ...known, words: `${measured}: ${verdict === 'helpful' ? 'helps' : 'harms'}` };
  if (needed === undefined)
    return {
      ...known,
      words: `not measured: library.holdout is ${holdout} (${plural(shown.n, 'scored session')})`,
    };
  if (scored < needed || difference === null)
    return { ...known, words: `not measured yet: ${scored} of about ${plural(needed, 'scored session')}` };
  return { ...known, words: `${measured}: no difference seen` };
}

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(2)}`;
