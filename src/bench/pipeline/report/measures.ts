import { count, fixed, percent, points } from '../../report/numbers.ts';
import type { Measure } from '../measure-pairs.ts';
import { REFINES_AT_NOTHING } from '../metrics.ts';

/** A measure in words that stand beside its numbers. */
export interface MeasureWords {
  readonly measure: Measure;
  readonly title: string;
  readonly better: 'more' | 'less';
  readonly unit: 'share' | 'cycles' | 'index';
  /** What is counted, for a reader who has read nothing else. */
  readonly meaning: string;
}

export const MEASURES: readonly MeasureWords[] = [
  {
    measure: 'completion',
    title: 'stages completed',
    better: 'more',
    unit: 'share',
    meaning:
      'Completed stages out of all that are scored. A stage whose attempts all failed is not completed, nor is one that waits for it.',
  },
  {
    measure: 'atOnce',
    title: 'done at once',
    better: 'more',
    unit: 'share',
    meaning: 'Stages whose first answer passed every check, out of all that are scored.',
  },
  {
    measure: 'retryRate',
    title: 'stages retried',
    better: 'less',
    unit: 'share',
    meaning:
      'Of the stages that were begun, those that had to start from nothing once more. Attempts that an outage ended do not count.',
  },
  {
    measure: 'refinesPerStage',
    title: 'refine cycles a stage',
    better: 'less',
    unit: 'cycles',
    meaning:
      'How often a stage that was begun was sent back within an attempt with what the check found, over all its attempts.',
  },
  {
    measure: 'robustness',
    title: 'robustness',
    better: 'more',
    unit: 'index',
    meaning: `0.4 × stages completed + 0.3 × (1 − stages retried) + 0.3 × (1 − refine cycles a stage / ${REFINES_AT_NOTHING}, not below 0): 1 is best.`,
  },
];

/** `94.7 %`, `1.13`, `0.847` */
export const valueText = ({ unit }: MeasureWords, value: number | undefined): string =>
  value === undefined || unit === 'share' ? percent(value) : fixed(value, unit === 'cycles' ? 2 : 3);

/** `+3.2 points`, `−0.29`, `+0.041`; without its unit where a range follows. */
export function changeText({ unit }: MeasureWords, change: number | undefined): string {
  if (change === undefined || unit === 'share') return points(change);
  const text = fixed(change, unit === 'cycles' ? 2 : 3);
  return change > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export const unitText = ({ unit }: MeasureWords): string =>
  unit === 'share' ? ' points' : unit === 'cycles' ? ' cycles' : '';

/** `3 seeds × 5 runs` */
export const sizeText = (seeds: number, runs: number): string =>
  `${count(seeds)} ${seeds === 1 ? 'seed' : 'seeds'} × ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`;
