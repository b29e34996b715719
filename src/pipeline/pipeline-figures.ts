import { isOutage, type StageOutcome } from './stage-outcome.ts';

/*
 * How robust a run was. The source of these measures (MetaClaw on AutoResearchClaw, Table 2) names four and does not define two
 * terms of the last one. Our definitions, all over the stages that are given:
 *
 *   begun             stages that were tried: not blocked, with at least one attempt that no outage ended
 *   completion        completed stages / all stages
 *   at once           stages whose first answer passed every check / all stages: not in the source, but the one
 *                     measure that a lesson changes directly
 *   retry rate        begun stages that needed more than one attempt / begun stages. The source's 10.5 % and 7.9 % are 4 and
 *                     3 of 38, two runs of 19 stages: shares of stages, not of attempts, of which there were more than 38.
 *   refines per stage refine cycles, of all attempts / begun stages
 *   retry reduction   1 − retry rate
 *   refine efficiency 1 − refines per stage / REFINES_AT_ZERO, and not below 0
 *   robustness        0.4 · completion + 0.3 · retry reduction + 0.3 · refine efficiency
 *
 * Rates are over begun stages, so that a run which stops at its first stage gets no credit for those it never reached. A
 * run without a begun stage gets the worst rate and the worst number of cycles.
 *
 * REFINES_AT_ZERO was fitted. With (18/19, 10.5 %, 2.0) and (19/19, 7.9 %, 1.2) it gives 0.719 and 0.839, where the source
 * has 0.714 and 0.845: no other number has a smaller maximum error, and the rest is within the rounding of 2.0 and 1.2. The
 * nearest integer, 3, gives 0.747 and 0.856. Other curves at their best fit are further off: e^(-kx) by 0.024, 1 / (1 + kx) by
 * 0.033. A cap on retries (1 - rate / cap) comes closer only by making retries irrelevant.
 */
const REFINES_AT_ZERO = 2.63;
const WEIGHTS = { completion: 0.4, retryReduction: 0.3, refineEfficiency: 0.3 } as const;

export interface PipelineFigures {
  readonly stages: number;
  readonly begun: number;
  readonly completed: number;
  /** 0 to 1. */
  readonly completion: number;
  /** 0 to 1. */
  readonly atOnce: number;
  /** 0 to 1. */
  readonly retryRate: number;
  readonly refinesPerStage: number;
  /** 0 to 1. */
  readonly robustness: number;
}

export function measurePipeline(stages: readonly MeasuredStage[]): PipelineFigures {
  const begun = stages.filter(({ attempts }) => attempts > 0);
  const completed = stages.filter(({ isCompleted }) => isCompleted).length;
  const retried = begun.filter(({ attempts }) => attempts > 1).length;
  const shares = {
    completion: stages.length === 0 ? 0 : completed / stages.length,
    atOnce: stages.length === 0 ? 0 : stages.filter(isDoneAtOnce).length / stages.length,
    retryRate: begun.length === 0 ? 1 : retried / begun.length,
    refinesPerStage: begun.length === 0 ? REFINES_AT_ZERO : refinesOf(begun) / begun.length,
  };
  return {
    stages: stages.length,
    begun: begun.length,
    completed,
    ...shares,
    robustness: robustnessOf(shares),
  };
}

export function robustnessOf(
  figures: Pick<PipelineFigures, 'completion' | 'retryRate' | 'refinesPerStage'>,
): number {
  const { completion, retryRate, refinesPerStage } = figures;
  const efficiency = Math.max(0, 1 - refinesPerStage / REFINES_AT_ZERO);
  return (
    WEIGHTS.completion * completion +
    WEIGHTS.retryReduction * (1 - retryRate) +
    WEIGHTS.refineEfficiency * efficiency
  );
}

const isDoneAtOnce = ({ isCompleted, attempts, refines }: MeasuredStage): boolean =>
  isCompleted && attempts === 1 && refines === 0;

const refinesOf = (stages: readonly MeasuredStage[]): number =>
  stages.reduce((sum, { refines }) => sum + refines, 0);

/** A stage as it is measured. */
interface MeasuredStage {
  readonly isCompleted: boolean;
  /** Those that no outage ended. */
  readonly attempts: number;
  /** Refine cycles of all attempts. */
  readonly refines: number;
}

/** An attempt at a stage, as it was reported. */
export interface ReportedStage {
  readonly stage: string;
  readonly isFailed: boolean;
  /** An outage ended it: it says nothing about the work. */
  readonly isOutage: boolean;
  readonly refines: number;
}

export const reportedStage = (outcome: StageOutcome): ReportedStage => ({
  stage: outcome.stage,
  isFailed: outcome.status === 'failed',
  isOutage: isOutage(outcome),
  refines: outcome.refines.length,
});

/** The stages of some attempts of one run, by their names; those that were planned and never tried count as not completed. */
export function measuredStages(
  attempts: readonly ReportedStage[],
  planned: readonly string[] = [],
): readonly MeasuredStage[] {
  const names = [...new Set([...planned, ...attempts.map(({ stage }) => stage)])];
  return names.map((name) => {
    const own = attempts.filter(({ stage }) => stage === name);
    const telling = own.filter((attempt) => !attempt.isOutage);
    return {
      isCompleted: own.some(({ isFailed }) => !isFailed),
      attempts: telling.length,
      refines: telling.reduce((sum, { refines }) => sum + refines, 0),
    };
  });
}
