import type { Waiting } from '../core/waiting.ts';
import type { CalibrationStatus } from '../evidence/judge/calibration.ts';
import type { ServedCost, ServedModelCost } from './model-cost.ts';

/** The last reflection over sessions and notes, in words. Plain data. */
export type LastReflection = {
  readonly at: number;
  readonly said: string;
};

/** For people and for metrics. Plain data. */
export type LearningStatus = {
  readonly appraised: { readonly failures: number; readonly successes: number };
  /** Failures that no lesson was learned from yet. */
  readonly support: number;
  /** Sessions that are waiting to be learned from. */
  readonly waiting: number;
  readonly cycles: { readonly run: number; readonly published: number; readonly queued: number };
  readonly cost: {
    /** Of today, with what is reserved for calls under way. */
    readonly learning: {
      readonly usdToday: number;
      readonly tokensToday: number;
      readonly unpricedTokensToday: number;
      readonly callsToday: number;
    };
    /** Since the start, at known prices. */
    readonly serving: ServedCost & { readonly models: readonly ServedModelCost[] };
  };
  readonly judge: CalibrationStatus & { readonly waiting: number; readonly fault?: string };
  /** What waits to be learned from, and why. */
  readonly waits: readonly Waiting[];
  readonly on: boolean;
  /** The last reflection over sessions and notes; absent before the first. */
  readonly reflection?: LastReflection;
  /** The number of failures in one place that starts a lesson. */
  readonly threshold: number;
  /** Sessions and runs of the learners that are not done yet; 0: everything recorded so far was looked at. */
  readonly pending: number;
  readonly problem?: string;
};
