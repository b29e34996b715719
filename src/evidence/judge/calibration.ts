import type { RewardSource } from '../../core/evidence.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Interval } from '../../stats/interval.ts';
import { wilsonInterval } from '../../stats/interval.ts';
import { describeIdentityTest, identityTest } from './identity-judge.ts';
import { type DatedTest, describeJudgeTest, type JudgeTest, stepsTest } from './judge-test.ts';

/** What one source said of a turn. `check`: whether the turn kept to rules with an accepted check. */
export interface SourcedReward {
  readonly turn: string;
  readonly source: RewardSource | 'check';
  /** −1 to 1; 0 is ignored. */
  readonly score: number;
  /** When it was recorded: what another model judged before says nothing about this one. */
  readonly at: number;
}

export interface CalibrationStatus {
  /** Turns scored by both the judge and a more trusted source. */
  readonly turns: number;
  readonly agreed: number;
  /** The judge scored a success, the other source did not. */
  readonly tooKind: number;
  /** The judge scored a failure, the other source did not. */
  readonly tooStrict: number;
  /** Absent while there are no turns. */
  readonly share?: number;
  readonly interval: Interval;
  readonly isTrusted: boolean;
  /** How much its rewards count: 0 when it is switched off, half while too few turns were compared, else 1. */
  readonly weight: 0 | 0.5 | 1;
  /** A sentence for people. */
  readonly said: string;
  /** The model that was tested with planted steps; absent before the first test. */
  readonly testedModel?: string;
  /** How it did as a judge of identities, in words; absent while it was not asked to be one. */
  readonly identity?: string;
}

export interface Calibration {
  /** Takes over a test with planted steps: a judge that failed it is not trusted. */
  test(stored: StoredFact): void;
  /** The last test; undefined when the judge was never tested. */
  tested(): DatedTest | undefined;
  /** The last test as a judge of identities. */
  testedIdentity(): DatedTest | undefined;
  /** Takes rewards in any order; a later one replaces an earlier one of the same source and turn. */
  hear(reward: SourcedReward): void;
  status(): CalibrationStatus;
}

const LEAST_TURNS = 20;
const LEAST_AGREEMENT = 0.6;

/** The sources that the judge is compared with, the most trusted first. */
const LABELS = ['verifier', 'person', 'check', 'chat'] as const;
type Label = (typeof LABELS)[number];

/** Whether each source called the turn a success. */
type TurnVerdicts = Partial<Record<Label, boolean>> & {
  readonly judge?: { readonly isSuccess: boolean; readonly at: number };
};

/**
 * How often the judge agrees with verifiers, people, the accepted checks of rules and what was said in the chat, on the same turns. It
 * counts half until enough turns were compared, and is switched off once they show that the agreement is below the limit, until its
 * model changes. Only the last turns count.
 */
export function createCalibration(most = 2000): Calibration {
  const turns = new Map<string, TurnVerdicts>();
  let last: DatedTest | undefined;
  let identity: DatedTest | undefined;
  let modelSince = 0;
  return {
    test: (stored) => {
      const before = last;
      last = stepsTest.fold(before, stored);
      if (before !== undefined && last?.test.model !== before.test.model) modelSince = stored.at;
      identity = identityTest.fold(identity, stored);
    },
    tested: () => last,
    testedIdentity: () => identity,
    hear: ({ turn, source, score, at }) => {
      const label = LABELS.find((one) => one === source);
      if ((label === undefined && source !== 'judge') || score === 0 || !Number.isFinite(score)) return;
      const isSuccess = score > 0;
      const verdict = label === undefined ? { judge: { isSuccess, at } } : { [label]: isSuccess };
      const before = turns.get(turn);
      turns.delete(turn);
      turns.set(turn, { ...before, ...verdict });
      const oldest = turns.keys().next().value;
      if (turns.size > most && oldest !== undefined) turns.delete(oldest);
    },
    status: () => ({
      ...withTest(statusOf([...turns.values()], modelSince), last?.test),
      ...(identity === undefined ? {} : { identity: describeIdentityTest(identity.test) }),
    }),
  };
}

function statusOf(verdicts: readonly TurnVerdicts[], modelSince: number): CalibrationStatus {
  const both = verdicts.flatMap(({ judge, ...others }) => {
    const by = LABELS.find((one) => others[one] !== undefined);
    const label = by && others[by];
    return judge === undefined || judge.at < modelSince || label === undefined
      ? []
      : [{ judge: judge.isSuccess, label }];
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
    weight: isTrusted ? (both.length < LEAST_TURNS ? 0.5 : 1) : 0,
    said: tell(both.length, agreed, interval, isTrusted),
  };
}

/** What the planted steps showed, before what people said. */
function withTest(status: CalibrationStatus, test: JudgeTest | undefined): CalibrationStatus {
  if (test === undefined) return status;
  const said = describeJudgeTest(test);
  const testedModel = test.model;
  return test.isPassed
    ? { ...status, testedModel, said: `${said}; ${status.said}` }
    : { ...status, testedModel, isTrusted: false, weight: 0, said };
}

function tell(turns: number, agreed: number, { low, high }: Interval, isTrusted: boolean): string {
  if (turns === 0) return 'no turns to compare the judge with yet';
  const range = `${percent(low)} to ${percent(high)} %`;
  const share = `the judge agrees with people, verifiers and the checks of rules on ${agreed} of ${turns} turns (${range})`;
  return isTrusted ? share : `${share}: it is switched off until models.judge names another model`;
}

const percent = (share: number): number => Math.round(share * 100);
