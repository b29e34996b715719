import { hash } from 'node:crypto';
import { evidenceWorse } from '../stats/confidence-sequence.ts';
import { addToMoments, EMPTY_MOMENTS, type MomentSums } from '../stats/moments.ts';
import { pairedEvidence, pairedLowerBound } from '../stats/paired-test.ts';

/** A version of the policy and the checkpoint that samples it; undefined: the base model without an adapter. */
export interface PolicyVersion {
  readonly version: number;
  readonly sampler: string | undefined;
}

/**
 * Which weights serve. A turn reads the pointer once, at its start, and keeps that version until its last token: a stream
 * ends on the weights it began with, and the pointer may move at any time. Weights that the pointer no longer names may be
 * unloaded only after the turns that use them have ended.
 */
export interface PolicyPointer {
  readonly live: PolicyVersion;
  readonly canary?: { readonly served: PolicyVersion; readonly share: number };
}

/** The version for all turns of a session, as long as the pointer does not move. */
export function versionForSession({ live, canary }: PolicyPointer, session: string): PolicyVersion {
  if (canary === undefined || !isInCanary(session, canary.served.version, canary.share)) return live;
  return canary.served;
}

/** By a hash of session and version: no session is always in the canary. */
export function isInCanary(session: string, version: number, share: number): boolean {
  const bytes = hash('sha256', JSON.stringify([session, version]), 'buffer');
  return bytes.readUIntBE(0, 6) / 2 ** 48 < share;
}

/** A `candidate` is measured on held-out tasks, a `canary` serves a share of sessions, `live` serves all others. */
export type PromotionStage = 'candidate' | 'canary' | 'live' | 'rejected' | 'rolled-back';

/** Scores are 0 to 1. Pairs and sessions have names, so that each counts once however often it is reported. */
export type PromotionEvent =
  /** `level`: the error level of its test, from the error budget that all promotions share; absent: `alpha`. */
  | { readonly type: 'proposed'; readonly served: PolicyVersion; readonly level?: number }
  | {
      readonly type: 'pair-scored';
      readonly version: number;
      readonly pair: string;
      readonly candidate: number;
      readonly live: number;
    }
  | { readonly type: 'session-scored'; readonly session: string; readonly score: number }
  | { readonly type: 'probed'; readonly version: number; readonly isWell: boolean }
  /** A person moved the weights one stage forward or back. */
  | { readonly type: 'person-promoted' | 'person-rolled-back' };

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

export interface PromotionSettings {
  /** The error probability: that a checkpoint worse by more than the margin passes, or that an equal one is rolled back. */
  readonly alpha: number;
  /** By how much a checkpoint may be worse (scores are 0 to 1). */
  readonly margin: number;
  /** A checkpoint passes after `fewestPairs` at the earliest, and is rejected after `mostPairs` at the latest. */
  readonly fewestPairs: number;
  readonly mostPairs: number;
  /** The share of sessions that a canary serves, and how many of them must have been scored before it goes live. */
  readonly canaryShare: number;
  readonly canarySessions: number;
  /** Consecutive failed probes after which it is rolled back. */
  readonly failedProbes: number;
}

export const DEFAULT_PROMOTION: PromotionSettings = {
  alpha: 0.05,
  margin: 0.02,
  fewestPairs: 50,
  mostPairs: 1000,
  canaryShare: 0.1,
  canarySessions: 30,
  failedProbes: 2,
};

interface Trial {
  readonly served: PolicyVersion;
  readonly stage: 'candidate' | 'canary';
  /** The probability that it passes although it is worse by more than the margin. */
  readonly level?: number;
  /** Candidate minus live on the same task under the same generation. */
  readonly differences: MomentSums;
  readonly pairs: readonly string[];
  readonly canary: MomentSums;
  readonly rest: MomentSums;
  readonly sessions: readonly string[];
  /** Consecutive failed probes. */
  readonly failed: number;
}

/** Plain data, folded from promotion events. */
export interface PromotionState {
  readonly live: PolicyVersion;
  /** The version to roll back to; undefined when there is none, also after a rollback. */
  readonly previous: PolicyVersion | undefined;
  readonly trial: Trial | undefined;
  /** Consecutive failed probes of the live version. */
  readonly failed: number;
}

interface PromotionResult {
  readonly state: PromotionState;
  readonly facts: readonly CheckpointMoved[];
}

export const startPromotion = (live: PolicyVersion): PromotionState => ({
  live,
  previous: undefined,
  trial: undefined,
  failed: 0,
});

/** The pointer that the gateway reads: it changes with one row whenever `facts` is not empty. */
export const pointerOf = ({ live, trial }: PromotionState, settings: PromotionSettings): PolicyPointer =>
  trial?.stage === 'canary'
    ? { live, canary: { served: trial.served, share: settings.canaryShare } }
    : { live };

/**
 * Applies an event. A pure function: the same events in the same order give the same state. An event that does not concern
 * the checkpoint on trial changes nothing.
 */
export function promote(
  state: PromotionState,
  event: PromotionEvent,
  settings: PromotionSettings = DEFAULT_PROMOTION,
): PromotionResult {
  switch (event.type) {
    case 'proposed':
      return propose(state, event);
    case 'pair-scored':
      return weighPair(state, event, settings);
    case 'session-scored':
      return weighSession(state, event, settings);
    case 'probed':
      return weighProbe(state, event, settings);
    case 'person-promoted':
      return state.trial === undefined
        ? same(state)
        : moveOn(state, state.trial, 'person', 'moved by a person');
    case 'person-rolled-back':
      return moveBack(state, 'person', 'moved by a person');
  }
}

const same = (state: PromotionState): PromotionResult => ({ state, facts: [] });

function propose(
  state: PromotionState,
  { served, level }: Extract<PromotionEvent, { readonly type: 'proposed' }>,
): PromotionResult {
  const { version } = served;
  const moved = (to: PromotionStage, why: string): readonly CheckpointMoved[] => [
    { type: 'checkpoint-moved', version, from: undefined, to, by: 'measurement', why },
  ];
  if (state.trial?.served.version === version || state.live.version === version) return same(state);
  if (state.trial !== undefined)
    return { state, facts: moved('rejected', `version ${state.trial.served.version} is already on trial`) };
  const empty = {
    differences: EMPTY_MOMENTS,
    pairs: [],
    canary: EMPTY_MOMENTS,
    rest: EMPTY_MOMENTS,
    sessions: [],
    failed: 0,
  };
  const trial: Trial = {
    served,
    stage: 'candidate',
    ...(level === undefined ? {} : { level }),
    ...empty,
  };
  return { state: { ...state, trial }, facts: moved('candidate', 'proposed') };
}

function weighPair(
  state: PromotionState,
  event: Extract<PromotionEvent, { readonly type: 'pair-scored' }>,
  { alpha, margin, fewestPairs, mostPairs, canarySessions }: PromotionSettings,
): PromotionResult {
  const { trial } = state;
  if (trial?.stage !== 'candidate' || trial.served.version !== event.version) return same(state);
  if (trial.pairs.includes(event.pair) || !isScore(event.candidate) || !isScore(event.live))
    return same(state);
  const differences = addToMoments(trial.differences, event.candidate - event.live);
  const next: Trial = { ...trial, differences, pairs: [...trial.pairs, event.pair] };
  const after = { ...state, trial: next };
  const { n } = differences;
  const level = Math.min(alpha, trial.level ?? alpha);
  const { better, worse } = pairedEvidence(differences, -margin);
  const low = (): string => points(pairedLowerBound(differences, level));
  if (n >= fewestPairs && better >= Math.log(1 / level))
    return pastCanary(
      moveOn(after, next, 'measurement', `at least ${low()} points better on ${n} held-out tasks`),
      canarySessions,
    );
  if (worse >= Math.log(1 / alpha))
    return asWorse(
      moveBack(after, 'measurement', `worse by more than ${points(margin)} points on ${n} tasks`),
    );
  if (n >= mostPairs)
    return moveBack(
      after,
      'measurement',
      `after ${n} tasks the difference may still be as low as ${low()} points`,
    );
  return same(after);
}

function weighSession(
  state: PromotionState,
  { session, score }: Extract<PromotionEvent, { readonly type: 'session-scored' }>,
  { alpha, canaryShare, canarySessions }: PromotionSettings,
): PromotionResult {
  const { trial } = state;
  if (trial?.stage !== 'canary' || trial.sessions.includes(session) || !isScore(score)) return same(state);
  const isCanary = isInCanary(session, trial.served.version, canaryShare);
  const canary = isCanary ? addToMoments(trial.canary, score) : trial.canary;
  const rest = isCanary ? trial.rest : addToMoments(trial.rest, score);
  const next: Trial = { ...trial, canary, rest, sessions: [...trial.sessions, session] };
  const after = { ...state, trial: next };
  const enough = Math.log(1 / alpha);
  if (evidenceWorse(canary, rest, { enough }) >= enough)
    return moveBack(after, 'measurement', `worse in ${canary.n} sessions than in ${rest.n} others`);
  if (canary.n < canarySessions) return same(after);
  return moveOn(after, next, 'measurement', `not worse in ${canary.n} sessions`);
}

function weighProbe(
  state: PromotionState,
  { version, isWell }: Extract<PromotionEvent, { readonly type: 'probed' }>,
  { failedProbes }: PromotionSettings,
): PromotionResult {
  const { trial } = state;
  const next = (failed: number): number => (isWell ? 0 : failed + 1);
  if (trial?.served.version === version) {
    const failed = next(trial.failed);
    const after = { ...state, trial: { ...trial, failed } };
    return failed < failedProbes ? same(after) : moveBack(after, 'probe', probesFailed(failed));
  }
  if (state.live.version !== version) return same(state);
  const after = { ...state, failed: next(state.failed) };
  return after.failed < failedProbes ? same(after) : revert(after, 'probe', probesFailed(after.failed));
}

/** Candidate to canary, canary to live. */
function moveOn(
  state: PromotionState,
  trial: Trial,
  by: CheckpointMoved['by'],
  why: string,
): PromotionResult {
  const { served, stage } = trial;
  const fact = { type: 'checkpoint-moved', version: served.version, from: stage, by, why } as const;
  if (stage === 'candidate')
    return { state: { ...state, trial: { ...trial, stage: 'canary' } }, facts: [{ ...fact, to: 'canary' }] };
  return {
    state: { live: served, previous: state.live, trial: undefined, failed: 0 },
    facts: [{ ...fact, to: 'live' }],
  };
}

const asWorse = ({ state, facts }: PromotionResult): PromotionResult => ({
  state,
  facts: facts.map((fact) => ({ ...fact, isWorse: true })),
});

/** Without required canary sessions the checkpoint goes live at once. */
function pastCanary({ state, facts }: PromotionResult, canarySessions: number): PromotionResult {
  if (canarySessions > 0 || state.trial?.stage !== 'canary') return { state, facts };
  const moved = moveOn(state, state.trial, 'measurement', 'the canary stage is switched off');
  return { state: moved.state, facts: [...facts, ...moved.facts] };
}

/** Ends the trial; without one, rolls back the live version. */
function moveBack(state: PromotionState, by: CheckpointMoved['by'], why: string): PromotionResult {
  const { trial } = state;
  if (trial === undefined) return revert(state, by, why);
  const to = trial.stage === 'candidate' ? 'rejected' : 'rolled-back';
  const { version } = trial.served;
  return {
    state: { ...state, trial: undefined },
    facts: [{ type: 'checkpoint-moved', version, from: trial.stage, to, by, why }],
  };
}

/** A checkpoint on trial was measured against the version that is rolled back: its trial ends too. */
function revert(state: PromotionState, by: CheckpointMoved['by'], why: string): PromotionResult {
  const { previous, live, trial } = state;
  if (previous === undefined) return same(state);
  const fact = { type: 'checkpoint-moved', version: live.version, from: 'live', by, why } as const;
  const ended =
    trial === undefined ? [] : moveBack(state, by, 'the version it was compared with was rolled back').facts;
  return {
    state: startPromotion(previous),
    facts: [...ended, { ...fact, to: 'rolled-back' }],
  };
}

const isScore = (score: number): boolean => score >= 0 && score <= 1;
const points = (share: number): string => (100 * share).toFixed(1);
const probesFailed = (failed: number): string => `${failed} probes failed in a row`;
