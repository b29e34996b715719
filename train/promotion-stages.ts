import type { RememberedRules } from '../src/core/task-source.ts';
import type { TrialEvidence } from './trial-evidence.ts';
import { type ClusterSpread, clusterSpread, type TrialPlan } from './trial-plan.ts';

/** A version of the policy and the checkpoint that samples it; undefined: the base model without an adapter. */
export interface PolicyVersion {
  readonly version: number;
  readonly sampler: string | undefined;
  /** The rules whose lessons it is not shown; absent: none. */
  readonly remembers?: RememberedRules;
}

/**
 * A `candidate` is measured on held-out tasks and on the regression suite, a `canary` serves a share of sessions, `live` serves all
 * others. `not-tried`: there are too few tasks to measure it. `replaced`: a newer canary took its place before anything was decided.
 */
export type PromotionStage =
  | 'candidate'
  | 'canary'
  | 'live'
  | 'rejected'
  | 'rolled-back'
  | 'not-tried'
  | 'replaced';

/** Written in one transaction with the pointer that results from it. */
export interface CheckpointMoved {
  readonly type: 'checkpoint-moved';
  readonly version: number;
  readonly from: PromotionStage | undefined;
  readonly to: PromotionStage;
  readonly by: 'measurement' | 'probe' | 'person';
  readonly why: string;
  /** It was shown to be worse; without this it was only not shown to be as good. */
  readonly isWorse?: true;
}

export interface PolicyTrial extends TrialEvidence {
  readonly served: PolicyVersion;
  readonly stage: 'candidate' | 'canary';
  /** The probability that it passes although it is no better. */
  readonly level?: number;
  readonly plan?: TrialPlan;
  /** It was shown to be better on held-out tasks, in words; what is left is the regression suite. */
  readonly better?: string;
  /** Consecutive failed probes. */
  readonly failed: number;
}

/** Plain data, folded from promotion events. */
export interface PromotionState {
  readonly live: PolicyVersion;
  /** The version to roll back to; undefined when there is none, also after a rollback. */
  readonly previous: PolicyVersion | undefined;
  readonly trial: PolicyTrial | undefined;
  /** A canary that serves its share while a newer checkpoint, `trial`, is a candidate. */
  readonly waiting?: PolicyTrial;
  /** Consecutive failed probes of the live version. */
  readonly failed: number;
  /** Of the last trial that had enough clusters: it tells how many the next one needs. */
  readonly spread?: ClusterSpread;
}

export interface PromotionResult {
  readonly state: PromotionState;
  readonly facts: readonly CheckpointMoved[];
}

export const startPromotion = (live: PolicyVersion): PromotionState => ({
  live,
  previous: undefined,
  trial: undefined,
  failed: 0,
});

/** The trial that serves a share of the sessions. */
export const canaryOf = ({ trial, waiting }: PromotionState): PolicyTrial | undefined =>
  trial?.stage === 'canary' ? trial : waiting;

export const unmoved = (state: PromotionState): PromotionResult => ({ state, facts: [] });

/** Candidate to canary, canary to live. */
export function moveOn(
  state: PromotionState,
  trial: PolicyTrial,
  by: CheckpointMoved['by'],
  why: string,
): PromotionResult {
  const { served, stage } = trial;
  const { waiting, ...rest } = state;
  const fact = { type: 'checkpoint-moved', version: served.version, from: stage, by, why } as const;
  if (stage === 'candidate')
    return {
      state: { ...rest, ...keepSpread(state, trial), trial: { ...trial, stage: 'canary' } },
      facts: [
        ...(waiting === undefined ? [] : [replacedBy(waiting, served.version)]),
        { ...fact, to: 'canary' },
      ],
    };
  // A candidate was compared with the version that ceases to serve.
  const ended = waiting?.served.version === served.version ? moveBack(state, by, LIVE_MOVED).facts : [];
  return {
    state: { ...rest, live: served, previous: state.live, trial: undefined, failed: 0 },
    facts: [...ended, { ...fact, to: 'live' }],
  };
}

const LIVE_MOVED = 'the version it was compared with serves no more: it can be proposed again';

const replacedBy = ({ served }: PolicyTrial, newer: number): CheckpointMoved => ({
  type: 'checkpoint-moved',
  version: served.version,
  from: 'canary',
  to: 'replaced',
  by: 'measurement',
  why: `version ${newer} is newer and passed, too; what was measured of version ${served.version} does not count for it`,
});

export const asWorse = ({ state, facts }: PromotionResult): PromotionResult => ({
  state,
  facts: facts.map((fact) => ({ ...fact, isWorse: true })),
});

/** Ends the trial; a canary that waited is on trial again. Without a trial, rolls back the live version. */
export function moveBack(state: PromotionState, by: CheckpointMoved['by'], why: string): PromotionResult {
  const { waiting, ...rest } = state;
  const { trial } = state;
  if (trial === undefined) return revert(state, by, why);
  if (trial.stage === 'canary') return leaveCanary(state, trial, by, why);
  const { version } = trial.served;
  return {
    state: { ...rest, ...keepSpread(state, trial), trial: waiting },
    facts: [{ type: 'checkpoint-moved', version, from: 'candidate', to: 'rejected', by, why }],
  };
}

/** A candidate that is measured meanwhile stays. */
export function leaveCanary(
  state: PromotionState,
  { served: { version } }: PolicyTrial,
  by: CheckpointMoved['by'],
  why: string,
): PromotionResult {
  const { waiting: _, ...rest } = state;
  return {
    state: state.trial?.stage === 'canary' ? { ...rest, trial: undefined } : rest,
    facts: [{ type: 'checkpoint-moved', version, from: 'canary', to: 'rolled-back', by, why }],
  };
}

const keepSpread = (
  { spread }: PromotionState,
  { differences, plan }: PolicyTrial,
): Pick<PromotionState, 'spread'> => {
  const next = clusterSpread(differences, plan?.repeats ?? 1) ?? spread;
  return next === undefined ? {} : { spread: next };
};

/** Everything on trial ends; without a trial, the previous version serves again. */
export function rollBack(state: PromotionState): PromotionResult {
  const first = moveBack(state, 'person', 'moved by a person');
  if (state.waiting === undefined) return first;
  const second = moveBack(first.state, 'person', 'moved by a person');
  return { state: second.state, facts: [...first.facts, ...second.facts] };
}

/** A checkpoint on trial was measured against the version that is rolled back: its trial ends too. */
export function revert(state: PromotionState, by: CheckpointMoved['by'], why: string): PromotionResult {
  const { previous, live, trial, waiting } = state;
  if (previous === undefined) return unmoved(state);
  const fact = { type: 'checkpoint-moved', version: live.version, from: 'live', by, why } as const;
  const because = 'the version it was compared with was rolled back';
  const ended = trial === undefined ? [] : moveBack(state, by, because).facts;
  const left = waiting === undefined ? [] : leaveCanary(state, waiting, by, because).facts;
  return {
    state: startPromotion(previous),
    facts: [...ended, ...left, { ...fact, to: 'rolled-back' }],
  };
}
