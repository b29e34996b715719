import { FEWEST_BLOCKS } from '../../../stats/block-mean.ts';
import { type Explanation, FEWEST_SEEDS } from '../../report/explain-difference.ts';
import { count, counted, fixed } from '../../report/numbers.ts';
import type { RunDifference } from './compare-runs.ts';
import { changeText, MEASURES, type MeasureWords, unitText } from './measures.ts';

/** What a difference means, in words that a reader may quote. */
export function explainRunDifference(difference: RunDifference): Explanation {
  const { verdict, mean, pairs } = difference;
  const words = wordsOf(difference);
  const caveats = caveatsOf(difference, words);
  if (mean === undefined)
    return {
      claim: `cannot say anything about ${words.title}: there is no pair of runs`,
      because: [],
      caveats,
    };
  const size = `${changeText(words, mean)}${unitText(words)} (95 %: ${rangeText(difference)}; ${counted(pairs, 'pair')} of runs)`;
  if (verdict === 'cannot say') {
    const claim = `cannot say whether skills differs from baseline in ${words.title}: ${size}`;
    return { claim, because: becauseOf(difference, words), caveats };
  }
  return { claim: `skills is ${verdict} than baseline in ${words.title}: ${size}`, because: [], caveats };
}

/** `+0.020 to +0.061`, or that there is none. */
export function rangeText(difference: RunDifference): string {
  const { interval } = difference;
  if (interval === undefined) return 'no interval';
  const words = wordsOf(difference);
  return `${changeText(words, interval.low)} to ${changeText(words, interval.high)}`;
}

export function wordsOf({ measure }: Pick<RunDifference, 'measure'>): MeasureWords {
  const found = MEASURES.find((words) => words.measure === measure);
  if (found === undefined) throw new Error(`there are no words for ${measure}`);
  return found;
}

function becauseOf(difference: RunDifference, words: MeasureWords): readonly string[] {
  const { interval, p = 1, pairs, smallest, needed, seeds } = difference;
  if (interval === undefined)
    return [`${counted(pairs, 'pair')} of runs cannot be told from chance; ${FEWEST_BLOCKS} is the least`];
  if (pairs === difference.tied) return ['no pair of runs differs'];
  const out: string[] = [];
  if (interval.low > 0 || interval.high < 0)
    out.push(
      `the interval leaves out 0, but so few runs differ at all that chance does the same ${inWords(p)}`,
    );
  if (smallest === undefined) {
    out.push('every run differs by the same amount, so how far runs spread was not seen');
    return out;
  }
  out.push(
    `so many runs show a true difference of ${changeText(words, smallest).replace('+', '')}${unitText(words)} 4 times in 5, smaller ones less often`,
  );
  if (needed !== undefined && needed.seeds > seeds.length)
    out.push(
      `to show ${changeText(words, needed.effect)}${unitText(words)} it takes about ${counted(needed.seeds, 'seed')} in place of ${count(seeds.length)}`,
    );
  return out;
}

function caveatsOf(difference: RunDifference, words: MeasureWords): readonly string[] {
  const { mean = 0, seeds, leftOut, withLeftOut } = difference;
  const out: string[] = [];
  if (seeds.length > 0 && seeds.length < FEWEST_SEEDS)
    out.push(
      `${seeds.length === 1 ? 'one seed only' : counted(seeds.length, 'seed')}: fewer than ${FEWEST_SEEDS} say little about the next run`,
    );
  const against = seeds.filter((seed) => seed.mean * mean < 0);
  if (against.length > 0)
    out.push(
      `${counted(against.length, 'seed')} of ${seeds.length} went the other way (${against.map(({ seed, mean: by }) => `seed ${seed}: ${changeText(words, by)}`).join(', ')})`,
    );
  if (leftOut > 0)
    out.push(
      `${counted(leftOut, 'pair')} left out: an outage cut a run short; counted as they stand the difference is ${changeText(words, withLeftOut)}`,
    );
  return out;
}

const inWords = (p: number): string =>
  p >= 0.5 ? 'more often than not' : `once in ${fixed(Math.max(2, 1 / p), 0)} times`;
