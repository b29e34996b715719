import { hash } from 'node:crypto';
import { addToMoments } from '../src/stats/moments.ts';
import {
  asWorse,
  type CheckpointMoved,
  canaryOf,
  leaveCanary,
  moveBack,
  moveOn,
  type PolicyTrial,
  type PolicyVersion,
  type PromotionResult,
  type PromotionStage,
  type PromotionState,
  revert,
  rollBack,
  unmoved,
} from './promotion-stages.ts';
import {
  addPair,
  DEFAULT_EVIDENCE,
  type EvidenceSettings,
  type HeldOutTerms,
  NO_EVIDENCE,
  type ScoredPair,
  weighCanarySessions,
  weighHeldOut,
  weighRegression,
  weighReplay,
} from './trial-evidence.ts';
import {
  notTried,
  planTrial,
  type TrialPlan,
  type TrialPlanSettings,
  type TrialShortage,
} from './trial-plan.ts';

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

/** Scores are 0 to 1. Pairs and sessions have names, so that each counts once however often it is reported. */
export type PromotionEvent =
  | {
      readonly type: 'proposed';
      readonly served: PolicyVersion;
      /** The error level of its test, from the error budget that all promotions share; absent: `alpha`. */
      readonly level?: number;
      /** How many clusters of held-out tasks there are; absent: it is not asked whether they suffice. */
      readonly clusters?: number;
      /** The variance of a pair that practice lets expect; absent: the worst case. */
      readonly pairVariance?: number;
      /** There is a regression suite. */
      readonly isRegressed?: boolean;
    }
  | (ScoredPair & { readonly type: 'pair-scored'; readonly version: number })
  /** There is nothing left to measure the version with. */
  | { readonly type: 'measured-out'; readonly version: number }
  | { readonly type: 'session-scored'; readonly session: string; readonly score: number }
  | { readonly type: 'probed'; readonly version: number; readonly isWell: boolean }
  /** A person moved the weights one stage forward or back. */
  | { readonly type: 'person-promoted' | 'person-rolled-back' };

export interface PromotionSettings extends EvidenceSettings, TrialPlanSettings {
  /** The share of sessions that a canary serves, and how many of them must have been scored before it goes live. 0: no canary stage. */
  readonly canaryShare: number;
  readonly canarySessions: number;
  /** Consecutive failed probes after which it is rolled back. */
  readonly failedProbes: number;
}

export const DEFAULT_PROMOTION: PromotionSettings = {
  ...DEFAULT_EVIDENCE,
  effect: 0.2,
  power: 0.8,
  mostPairs: 800,
  mostRepeats: 8,
  canaryShare: 0.1,
  canarySessions: 30,
  failedProbes: 2,
};

/** The pointer that the gateway reads: it changes with one row whenever `facts` is not empty. */
export function pointerOf(state: PromotionState, settings: PromotionSettings): PolicyPointer {
  const { live } = state;
  const canary = canaryOf(state);
  return canary === undefined
    ? { live }
    : { live, canary: { served: canary.served, share: settings.canaryShare } };
}

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
      return propose(state, event, settings);
    case 'pair-scored':
      return weighPair(state, event, settings);
    case 'measured-out':
      return endMeasurement(state, event, settings);
    case 'session-scored':
      return weighSession(state, event, settings);
    case 'probed':
      return weighProbe(state, event, settings);
    case 'person-promoted':
      return state.trial === undefined
        ? unmoved(state)
        : moveOn(state, state.trial, 'person', 'moved by a person');
    case 'person-rolled-back':
      return rollBack(state);
  }
}

function propose(
  state: PromotionState,
  event: Extract<PromotionEvent, { readonly type: 'proposed' }>,
  settings: PromotionSettings,
): PromotionResult {
  const { served, level, clusters, pairVariance, isRegressed = false } = event;
  const { version } = served;
  const { trial } = state;
  const moved = (to: PromotionStage, why: string): readonly CheckpointMoved[] => [
    { type: 'checkpoint-moved', version, from: undefined, to, by: 'measurement', why },
  ];
  if (state.live.version === version || canaryOf(state)?.served.version === version) return unmoved(state);
  const planned =
    clusters === undefined
      ? { repeats: 1, needed: 0, isPowered: true }
      : planTrial(clusters, levelOf(level, settings), settings, { spread: state.spread, pairVariance });
  const plan: TrialPlan = { repeats: planned.repeats, isRegressed };
  if (trial?.stage === 'candidate') {
    // An earlier version opened it without a plan: it gets one as long as nothing was measured.
    if (trial.served.version === version)
      return trial.plan === undefined && trial.differences.n === 0
        ? unmoved({ ...state, trial: { ...trial, plan } })
        : unmoved(state);
    return { state, facts: moved('rejected', `version ${trial.served.version} is already on trial`) };
  }
  if (!planned.isPowered)
    return {
      state,
      facts: moved(
        'not-tried',
        notTried({ needed: planned.needed, there: clusters ?? 0, effect: settings.effect }),
      ),
    };
  const next: PolicyTrial = {
    served,
    stage: 'candidate',
    ...(level === undefined ? {} : { level }),
    plan,
    ...NO_EVIDENCE,
    failed: 0,
  };
  return {
    // A canary goes on serving its share, with its own evidence.
    state: { ...state, trial: next, ...(trial === undefined ? {} : { waiting: trial }) },
    facts: moved('candidate', 'proposed'),
  };
}

/** Why a checkpoint that is trained now could not be tried on this many clusters; undefined when it could. */
export function findTrialShortage(
  { spread }: PromotionState,
  clusters: number,
  { level, pairVariance }: { readonly level: number; readonly pairVariance?: number | undefined },
  settings: PromotionSettings,
): TrialShortage | undefined {
  const { needed, isPowered } = planTrial(clusters, levelOf(level, settings), settings, {
    spread,
    pairVariance,
  });
  return isPowered ? undefined : { needed, there: clusters, effect: settings.effect };
}

const levelOf = (level: number | undefined, { alpha }: PromotionSettings): number =>
  Math.min(alpha, level ?? alpha);

function termsOf(
  { live }: PromotionState,
  { level, served }: PolicyTrial,
  settings: PromotionSettings,
): HeldOutTerms {
  const before = new Set(live.remembers?.rules.map(({ lesson }) => lesson));
  const gained = (served.remembers?.rules ?? []).filter(({ lesson }) => !before.has(lesson));
  return { level: levelOf(level, settings), remembered: gained.length };
}

function weighPair(
  state: PromotionState,
  { version, ...pair }: Extract<PromotionEvent, { readonly type: 'pair-scored' }>,
  settings: PromotionSettings,
): PromotionResult {
  const { trial } = state;
  const { suite = 'tasks' } = pair;
  if (suite === 'replay') return weighReplayed(state, { version, ...pair }, settings);
  if (trial?.stage !== 'candidate' || trial.served.version !== version) return unmoved(state);
  // The regression suite follows the held-out tasks; what comes too early or too late is not counted.
  if ((suite === 'regression') !== (trial.better !== undefined)) return unmoved(state);
  const repeats = suite === 'regression' ? 1 : (trial.plan?.repeats ?? 1);
  const next = addPair(trial, pair, repeats);
  if (next === undefined) return unmoved(state);
  const after = { ...state, trial: next };
  // Only a complete cluster is an observation.
  if (next.roots === trial.roots) return unmoved(after);
  if (suite === 'regression') {
    const { verdict, why } = weighRegression(next, settings, false);
    return verdict === 'worse' ? asWorse(moveBack(after, 'measurement', why())) : unmoved(after);
  }
  const { verdict, why } = weighHeldOut(next, termsOf(state, trial, settings), settings);
  if (verdict === 'worse') return asWorse(moveBack(after, 'measurement', why()));
  if (verdict !== 'well') return unmoved(after);
  if (trial.plan?.isRegressed === true) return unmoved({ ...state, trial: { ...next, better: why() } });
  return toCanary(after, next, why(), settings);
}

/** Nothing is left to measure with: what was not shown by then is not believed. */
function endMeasurement(
  state: PromotionState,
  { version }: Extract<PromotionEvent, { readonly type: 'measured-out' }>,
  settings: PromotionSettings,
): PromotionResult {
  const { trial } = state;
  if (trial?.stage !== 'candidate' || trial.served.version !== version) return unmoved(state);
  if (trial.better === undefined)
    return moveBack(
      state,
      'measurement',
      weighHeldOut(trial, termsOf(state, trial, settings), settings).why(),
    );
  const { verdict, why } = weighRegression(trial, settings, true);
  if (verdict === 'well') return toCanary(state, trial, `${trial.better}; ${why()}`, settings);
  return moveBack(state, 'measurement', `${trial.better}; but ${why()}`);
}

function weighReplayed(
  state: PromotionState,
  { version, ...pair }: ScoredPair & { readonly version: number },
  settings: PromotionSettings,
): PromotionResult {
  const canary = canaryOf(state);
  if (canary?.served.version !== version) return unmoved(state);
  const next = addPair(canary, pair, canary.plan?.repeats ?? 1);
  if (next === undefined) return unmoved(state);
  if (next.roots === canary.roots) return unmoved(withCanary(state, next));
  return decideCanary(withCanary(state, next), next, weighReplay(next, settings));
}

function weighSession(
  state: PromotionState,
  { session, score }: Extract<PromotionEvent, { readonly type: 'session-scored' }>,
  settings: PromotionSettings,
): PromotionResult {
  const trial = canaryOf(state);
  if (trial === undefined || trial.sessions.includes(session) || !(score >= 0 && score <= 1))
    return unmoved(state);
  const isCanary = isInCanary(session, trial.served.version, settings.canaryShare);
  const canary = isCanary ? addToMoments(trial.canary, score) : trial.canary;
  const rest = isCanary ? trial.rest : addToMoments(trial.rest, score);
  const next: PolicyTrial = { ...trial, canary, rest, sessions: [...trial.sessions, session] };
  const weighed = weighCanarySessions(next, settings.canarySessions, settings);
  return decideCanary(withCanary(state, next), next, weighed);
}

const withCanary = (state: PromotionState, next: PolicyTrial): PromotionState =>
  state.trial?.stage === 'canary' ? { ...state, trial: next } : { ...state, waiting: next };

function decideCanary(
  state: PromotionState,
  canary: PolicyTrial,
  { verdict, why }: ReturnType<typeof weighReplay>,
): PromotionResult {
  if (verdict === 'worse') return leaveCanary(state, canary, 'measurement', why());
  return verdict === 'well' ? moveOn(state, canary, 'measurement', why()) : unmoved(state);
}

function weighProbe(
  state: PromotionState,
  { version, isWell }: Extract<PromotionEvent, { readonly type: 'probed' }>,
  { failedProbes }: PromotionSettings,
): PromotionResult {
  const next = (failed: number): number => (isWell ? 0 : failed + 1);
  const { trial, waiting } = state;
  for (const one of [trial, waiting]) {
    if (one?.served.version !== version) continue;
    const doubted = { ...one, failed: next(one.failed) };
    const after = one === trial ? { ...state, trial: doubted } : { ...state, waiting: doubted };
    if (doubted.failed < failedProbes) return unmoved(after);
    const why = probesFailed(doubted.failed);
    return one === trial ? moveBack(after, 'probe', why) : leaveCanary(after, doubted, 'probe', why);
  }
  if (state.live.version !== version) return unmoved(state);
  const after = { ...state, failed: next(state.failed) };
  return after.failed < failedProbes ? unmoved(after) : revert(after, 'probe', probesFailed(after.failed));
}

/** Without required canary sessions the checkpoint goes live at once. */
function toCanary(
  state: PromotionState,
  trial: PolicyTrial,
  why: string,
  { canarySessions }: PromotionSettings,
): PromotionResult {
  const first = moveOn(state, trial, 'measurement', why);
  if (canarySessions > 0 || first.state.trial === undefined) return first;
  const second = moveOn(
    first.state,
    first.state.trial,
    'measurement',
    `${why}; the canary stage is switched off`,
  );
  return { state: second.state, facts: [...first.facts, ...second.facts] };
}

const probesFailed = (failed: number): string => `${failed} probes failed in a row`;
