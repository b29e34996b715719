import type { TrialMethod, TrialOutcome } from '../../core/trial.ts';
import { trialFigures } from '../../lessons/effect/describe-trial.ts';
import type { TrialRecord } from '../../lessons/effect/fold-trials.ts';
import { ERROR_BUDGET, evidenceNeeded, testsThatPass } from '../../stats/error-budget.ts';
import type { MomentSums } from '../../stats/moments.ts';
import { type PairedEvidence, pairedEvidence } from '../../stats/paired-test.ts';

/** A lesson on trial, with all that was measured of it. */
export interface RunningTrial {
  readonly record: TrialRecord;
  /** From real sessions with and without it (`lessons/effect`). */
  readonly traffic: PairedEvidence;
  /** It is for every task: a wrong promotion would show in every session. */
  readonly isFamilyWise: boolean;
}

export interface TrialVerdict {
  readonly subject: string;
  readonly outcome: TrialOutcome;
  readonly why: string;
}

/** How much of a test may be spent. */
export interface TestLimits {
  /** Pairs of attempts with and without a lesson. */
  readonly pairs: number;
}

/**
 * A judge may prefer an answer for its style: a preference has to exceed this margin before it counts, in either direction.
 * With the margin, replay needs more pairs than tasks do for the same effect.
 */
const JUDGE_MARGIN = 0.1;
/** The start wealth of each kind of evidence. It sums to 1, so that the sum of their wealths is one e-process. */
const START: Readonly<Record<TrialMethod | 'traffic', number>> = { tasks: 0.7, traffic: 0.2, replay: 0.1 };
/** The probability that a lesson that does no harm is ever retired as harmful by its trial. Retirement can be undone. */
const HARM_ALPHA = 0.05;
/** From so small a mean difference on, a lesson may do harm. */
const SMALLEST = 0.05;
/** Before this many pairs no test is given up; then when even a mean that is higher by this many standard errors is too low. */
const FEWEST_PAIRS = 24;
const HOPE = 1.5;
/** An effect on variations of one task may be luck with this task. */
const FEWEST_ROOTS = 3;

const bothWays = (differences: MomentSums, margin: number): PairedEvidence => ({
  better: pairedEvidence(differences, margin).better,
  worse: pairedEvidence(differences, -margin).worse,
});

/** By the record, which never changes: after each batch all trials are weighed, and one has changed. */
const known = new WeakMap<TrialRecord, Readonly<Record<TrialMethod, PairedEvidence>>>();

function measuredEvidence(record: TrialRecord): Readonly<Record<TrialMethod, PairedEvidence>> {
  const found = known.get(record);
  if (found !== undefined) return found;
  const tasks = bothWays(record.differences.tasks, 0);
  const replay = bothWays(record.differences.replay, JUDGE_MARGIN);
  known.set(record, { tasks, replay });
  return { tasks, replay };
}

/** The logarithm of one e-value against "it does not help" and of one against "it does no harm", from all evidence. */
export function trialEvidence({ record, traffic }: Pick<RunningTrial, 'record' | 'traffic'>): PairedEvidence {
  const { tasks, replay } = measuredEvidence(record);
  const sum = (way: 'better' | 'worse'): number =>
    logSum([
      Math.log(START.tasks) + tasks[way],
      Math.log(START.traffic) + traffic[way],
      Math.log(START.replay) + replay[way],
    ]);
  return { better: sum('better'), worse: sum('worse') };
}

function logSum(logs: readonly number[]): number {
  const largest = Math.max(...logs);
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0));
}

/** Whether its evidence comes from enough different tasks, or from real sessions. */
const isBroad = ({ roots, differences }: TrialRecord): boolean =>
  roots.size >= FEWEST_ROOTS || differences.tasks.n + differences.replay.n === 0;

/**
 * The verdicts that the measurements allow now. Trials without one go on. `passed`: how many lessons passed before, ever. The
 * same measurements give the same verdicts, and looking more often costs nothing.
 */
export function weighTrials(
  running: readonly RunningTrial[],
  passed: number,
  limits: TestLimits,
): readonly TrialVerdict[] {
  const weighed = running.map((trial) => ({ trial, ...trialEvidence(trial) }));
  const harmful = weighed.filter(({ worse }) => worse >= Math.log(1 / HARM_ALPHA));
  const others = weighed.filter((one) => !harmful.includes(one));
  const helpful = testsThatPass(
    others
      .filter(({ trial }) => isBroad(trial.record))
      .map(({ trial, better }) => ({
        trial,
        place: trial.record.place,
        evidence: better,
        isFamilyWise: trial.isFamilyWise,
      })),
    passed,
    ERROR_BUDGET.lessons,
  ).map(({ trial }) => trial);
  const verdict = (trial: RunningTrial, outcome: TrialOutcome, why: string): TrialVerdict => ({
    subject: trial.record.subject,
    outcome,
    why,
  });
  return [
    ...harmful.map(({ trial }) =>
      verdict(trial, 'harmful', `attempts come out worse with it: ${trialFigures(trial.record)}`),
    ),
    ...helpful.map((trial) =>
      verdict(trial, 'helpful', `attempts come out better with it: ${trialFigures(trial.record)}`),
    ),
    ...others
      .filter(({ trial }) => !helpful.includes(trial))
      .flatMap(({ trial, better }) => {
        const why = whyEnough(trial, better, passed + helpful.length, limits);
        return why === undefined
          ? []
          : [verdict(trial, 'no-difference', `${why}: ${trialFigures(trial.record)}`)];
      }),
  ];
}

/** Why testing it further is not worth it; undefined while it is. Stopping early can only refuse, never promote. */
function whyEnough(
  { record, isFamilyWise }: RunningTrial,
  evidence: number,
  passed: number,
  limits: TestLimits,
): string | undefined {
  const isReplay = record.differences.tasks.n === 0;
  const { n, sum, squares } = record.differences[isReplay ? 'replay' : 'tasks'];
  const left = limits.pairs - record.begun.tasks - record.begun.replay;
  if (left <= 0) return 'its test budget is used, and no difference was shown';
  // What seems to do harm is tested on, until that is known.
  if (n < FEWEST_PAIRS || sum < -SMALLEST * n) return undefined;
  // The wealth of the best bettor grows by about mean² / (2 · mean square) a pair.
  const hoped = sum / n + HOPE * Math.sqrt(squares / n / n) - (isReplay ? JUDGE_MARGIN : 0);
  const growth = squares === 0 ? 0 : (Math.max(0, hoped) ** 2 * n) / (2 * squares);
  const needed = evidenceNeeded({ place: record.place, isFamilyWise }, passed + 1, ERROR_BUDGET.lessons);
  return evidence + left * growth < needed ? 'its test budget cannot show a difference any more' : undefined;
}

/** How much of the evidence that it needs a trial has, 0 to 1. */
export function progressOf(trial: RunningTrial, passed: number): number {
  const { record, isFamilyWise } = trial;
  const needed = evidenceNeeded({ place: record.place, isFamilyWise }, passed + 1, ERROR_BUDGET.lessons);
  return Math.max(0, Math.min(1, trialEvidence(trial).better / needed));
}
