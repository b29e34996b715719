import { wilsonInterval } from '../../../src/stats/interval.ts';
import type { Outcome } from './judge-trial.ts';
import { ORIGINS, TELLINGS, type Trial } from './make-trials.ts';

/** A share with its 95 % interval. */
export interface MeasuredShare {
  readonly passed: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface ObedienceRow {
  readonly origin: string;
  readonly condition: string;
  readonly decoding: Decoding;
  readonly rules: MeasuredShare;
  /** Tasks whose every check passed. */
  readonly complete: MeasuredShare;
  /** Tasks that were done, apart from the rules. */
  readonly done: MeasuredShare;
}

export type Decoding = 'greedy' | 'sampled';

export interface Judged {
  readonly trial: Trial;
  readonly decoding: Decoding;
  readonly outcome: Outcome;
}

const shareOf = (passed: number, of: number): MeasuredShare => {
  const { low, high } = wilsonInterval(passed, of);
  return { passed, of, share: of === 0 ? 0 : passed / of, low, high };
};

function rowOf(
  origin: string,
  condition: string,
  decoding: Decoding,
  judged: readonly Judged[],
): ObedienceRow {
  const count = (of: (one: Judged) => number): number => judged.reduce((sum, one) => sum + of(one), 0);
  return {
    origin,
    condition,
    decoding,
    rules: shareOf(
      count(({ outcome }) => outcome.obeyed.length),
      count(({ trial }) => trial.rules.length),
    ),
    complete: shareOf(
      count(({ outcome }) => (outcome.isComplete ? 1 : 0)),
      judged.length,
    ),
    done: shareOf(
      count(({ outcome }) => (outcome.isDone ? 1 : 0)),
      judged.length,
    ),
  };
}

/** A row for each origin, condition and way of decoding that was measured. */
export const tallyConditions = (judged: readonly Judged[]): readonly ObedienceRow[] =>
  ORIGINS.flatMap((origin) =>
    TELLINGS.flatMap((condition) =>
      (['greedy', 'sampled'] as const).flatMap((decoding) => {
        const own = judged.filter(
          (one) =>
            one.trial.origin === origin && one.trial.condition === condition && one.decoding === decoding,
        );
        return own.length === 0 ? [] : [rowOf(origin, condition, decoding, own)];
      }),
    ),
  );

/** Where the rule was told alone, by form. */
export function tallyForms(judged: readonly Judged[]): readonly ObedienceRow[] {
  const told = judged.filter(({ trial }) => trial.condition !== 'none' && trial.condition !== 'together');
  const names = [
    ...new Set(told.map(({ trial }) => `${trial.origin}\t${trial.rules[0]?.form ?? ''}`)),
  ].sort();
  return names.flatMap((name) =>
    (['greedy', 'sampled'] as const).flatMap((decoding) => {
      const [origin = '', form = ''] = name.split('\t');
      const own = told.filter(
        (one) =>
          one.decoding === decoding && `${one.trial.origin}\t${one.trial.rules[0]?.form ?? ''}` === name,
      );
      return own.length === 0 ? [] : [rowOf(origin, form, decoding, own)];
    }),
  );
}

const percent = ({ share, low, high, of }: MeasuredShare): string =>
  of === 0
    ? '-'
    : `${(100 * share).toFixed(1)} % (${(100 * low).toFixed(0)}-${(100 * high).toFixed(0)}, n ${of})`;

export const tableOf = (head: string, rows: readonly ObedienceRow[]): string =>
  [
    `| ${head} | decoding | rule obeyed | task done | every check |`,
    '|---|---|---|---|---|',
    ...rows.map(
      ({ origin, condition, decoding, rules, done, complete }) =>
        `| ${origin}, ${condition} | ${decoding} | ${percent(rules)} | ${percent(done)} | ${percent(complete)} |`,
    ),
  ].join('\n');
