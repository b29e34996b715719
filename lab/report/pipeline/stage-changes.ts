import type { StageRecord } from '../../pipeline/pipeline-journal.ts';
import type { PipelinePair } from '../../pipeline/pipeline-metrics.ts';
import { pipelineFigures } from '../../pipeline/pipeline-metrics.ts';

/** One stage with and without lessons, over the compared runs. */
export interface StageChange {
  readonly stage: string;
  readonly pairs: number;
  readonly baseline: StageFigures;
  readonly skills: StageFigures;
  /** Runs in which it went better, and worse, with lessons. */
  readonly gained: number;
  readonly lost: number;
}

export interface StageFigures {
  readonly completed: number;
  readonly retried: number;
  /** The mean of a run. */
  readonly refines: number;
}

/** A stage of one run that went worse with lessons. It is reported beside every gain, also where the gain is larger. */
export interface LostStage {
  readonly seed: number;
  readonly run: number;
  readonly stage: string;
  readonly baseline: StageOutcome;
  readonly skills: StageOutcome;
  /** Conventions that its first answer broke with lessons and not without. */
  readonly broken: readonly string[];
  /** How many lessons its prompt contained. */
  readonly shown: number;
}

type StageOutcome = Pick<StageRecord, 'status' | 'attempts' | 'refines'>;

export interface PipelineLosses {
  readonly pairs: number;
  readonly gained: number;
  readonly stages: readonly LostStage[];
  /** Runs that were less robust with lessons. */
  readonly runs: readonly { readonly seed: number; readonly run: number; readonly by: number }[];
}

interface StageCouple {
  readonly seed: number;
  readonly run: number;
  readonly before: StageRecord;
  readonly now: StageRecord;
}

export function stageChanges(pairs: readonly PipelinePair[]): readonly StageChange[] {
  const couples = couplesOf(pairs);
  return [...new Set(couples.map(({ now }) => now.stage))].map((stage) => {
    const own = couples.filter(({ now }) => now.stage === stage);
    return {
      stage,
      pairs: own.length,
      baseline: stageFigures(own.map(({ before }) => before)),
      skills: stageFigures(own.map(({ now }) => now)),
      gained: own.filter(({ now, before }) => burden(now) < burden(before)).length,
      lost: own.filter(({ now, before }) => burden(now) > burden(before)).length,
    };
  });
}

/** Largest first. */
export function findPipelineLosses(pairs: readonly PipelinePair[]): PipelineLosses {
  const couples = couplesOf(pairs);
  const lost = couples
    .filter(({ before, now }) => burden(now) > burden(before))
    .sort((a, b) => burden(b.now) - burden(b.before) - (burden(a.now) - burden(a.before)));
  return {
    pairs: couples.length,
    gained: couples.filter(({ before, now }) => burden(now) < burden(before)).length,
    stages: lost.map(({ seed, run, before, now }) => ({
      ...{ seed, run, stage: now.stage },
      baseline: outcomeOf(before),
      skills: outcomeOf(now),
      broken: now.broken.filter((id) => !before.broken.includes(id)),
      shown: now.lessons.length,
    })),
    runs: pairs
      .map(({ seed, baseline, skills }) => ({
        ...{ seed, run: skills.run },
        by: pipelineFigures(skills).robustness - pipelineFigures(baseline).robustness,
      }))
      .filter(({ by }) => by < 0),
  };
}

/** A stage that is not completed weighs more than any retry, a retry more than the refine cycles of an attempt. */
const NOT_COMPLETED = 1e6;
const RETRY = 1e3;
const burden = ({ status, attempts, refines }: StageRecord): number =>
  (status === 'completed' ? 0 : NOT_COMPLETED) + RETRY * Math.max(0, attempts - 1) + refines;

const outcomeOf = ({ status, attempts, refines }: StageRecord): StageOutcome => ({
  status,
  attempts,
  refines,
});

function couplesOf(pairs: readonly PipelinePair[]): readonly StageCouple[] {
  return pairs.flatMap(({ seed, baseline, skills }) =>
    skills.stages.flatMap((now) => {
      const before = baseline.stages.find(({ stage }) => stage === now.stage);
      return before === undefined || !now.isScorable ? [] : [{ seed, run: skills.run, before, now }];
    }),
  );
}

const stageFigures = (records: readonly StageRecord[]): StageFigures => ({
  completed: records.filter(({ status }) => status === 'completed').length,
  retried: records.filter(({ attempts }) => attempts > 1).length,
  refines: records.reduce((sum, { refines }) => sum + refines, 0) / Math.max(1, records.length),
});
