import type { RewardSource } from '../../core/fact.ts';
import type { Interval } from '../../stats/interval.ts';
import { wilsonInterval } from '../../stats/wilson.ts';

/** A reward of a turn, as it was given. */
export interface GivenReward {
  readonly turn: string;
  readonly source: RewardSource;
  /** −1 to 1; 0 says nothing. */
  readonly score: number;
}

export interface CalibrationStatus {
  /** Turns that a judge and someone more trusted both had a say on. */
  readonly turns: number;
  readonly agreed: number;
  /** The judge called it a success, and it was none. */
  readonly tooKind: number;
  /** The judge called it a failure, and it was none. */
  readonly tooStrict: number;
  /** Absent while there are no turns. */
  readonly share?: number;
  readonly interval: Interval;
  readonly isTrusted: boolean;
  /** For people. */
  readonly said: string;
}

export interface Calibration {
  /** Told of rewards in any order; a later one of the same source takes the place of an earlier one. */
  hear(reward: GivenReward): void;
  status(): CalibrationStatus;
}

const LEAST_TURNS = 20;
const LEAST_AGREEMENT = 0.6;

interface Heard {
  readonly judge?: boolean;
  readonly verifier?: boolean;
  readonly person?: boolean;
}

/**
 * How often the judge says what verifiers and people say of the same turns. It is trusted until enough turns show that
 * it cannot agree as often as it should. Only the last turns count: models change.
 */
export function createCalibration(most = 2000): Calibration {
  const turns = new Map<string, Heard>();
  return {
    hear: ({ turn, source, score }) => {
      if (source === 'signal' || score === 0 || !Number.isFinite(score)) return;
      const before = turns.get(turn);
      turns.delete(turn);
      turns.set(turn, { ...before, [source]: score > 0 });
      const oldest = turns.keys().next().value;
      if (turns.size > most && oldest !== undefined) turns.delete(oldest);
    },
    status: () => statusOf([...turns.values()]),
  };
}

function statusOf(heard: readonly Heard[]): CalibrationStatus {
  const both = heard.flatMap(({ judge, verifier, person }) => {
    const label = verifier ?? person;
    return judge === undefined || label === undefined ? [] : [{ judge, label }];
  });
  const agreed = both.filter(({ judge, label }) => judge === label).length;
  const tooKind = both.filter(({ judge, label }) => judge && !label).length;
  const interval = wilsonInterval(agreed, both.length);
  const isTrusted = both.length < LEAST_TURNS || interval.high >= LEAST_AGREEMENT;
  return {
    turns: both.length,
    agreed,
    tooKind,
    tooStrict: both.length - agreed - tooKind,
    ...(both.length === 0 ? {} : { share: agreed / both.length }),
    interval,
    isTrusted,
    said: tell(both.length, agreed, interval, isTrusted),
  };
}

function tell(turns: number, agreed: number, { low, high }: Interval, isTrusted: boolean): string {
  if (turns === 0) return 'nothing to compare the judge with yet';
  const range = `${percent(low)} to ${percent(high)} %`;
  const share = `the judge agrees with verifiers and people on ${agreed} of ${turns} turns (${range})`;
  return isTrusted ? share : `${share}: it is not trusted any more, its rewards count for nothing`;
}

const percent = (share: number): number => Math.round(share * 100);
