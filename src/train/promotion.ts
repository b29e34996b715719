import { evidenceWorse } from '../stats/evidence-worse.ts';
import { evidenceAbove, lowerBound } from '../stats/lower-bound.ts';
import { evidenceBelow } from '../stats/mean-interval.ts';
import { addToTally, EMPTY_TALLY, type Tally } from '../stats/tally.ts';
import { isInCanary, type PolicyPointer, type Served } from './policy-pointer.ts';
import type { CheckpointMoved, PromotionEvent, Stage } from './promotion-event.ts';
import { DEFAULT_PROMOTION, type PromotionSettings } from './promotion-settings.ts';

interface Trial {
  readonly served: Served;
  readonly stage: 'candidate' | 'canary';
  /** Candidate minus live on the same task under the same generation. */
  readonly differences: Tally;
  readonly pairs: readonly string[];
  readonly canary: Tally;
  readonly rest: Tally;
  readonly sessions: readonly string[];
  /** Consecutive failed probes. */
  readonly failed: number;
}

/** Plain data, folded from promotion events. */
export interface Promotion {
  readonly live: Served;
  /** The version to roll back to; undefined when there is none, also after a rollback. */
  readonly previous: Served | undefined;
  readonly trial: Trial | undefined;
  /** Consecutive failed probes of the live version. */
  readonly failed: number;
}

export interface Promoted {
  readonly state: Promotion;
  readonly facts: readonly CheckpointMoved[];
}

export const startPromotion = (live: Served): Promotion => ({
  live,
  previous: undefined,
  trial: undefined,
  failed: 0,
});

/** The pointer that the gateway reads: it changes with one row whenever `facts` is not empty. */
export const pointerOf = ({ live, trial }: Promotion, settings: PromotionSettings): PolicyPointer =>
  trial?.stage === 'canary'
    ? { live, canary: { served: trial.served, share: settings.canaryShare } }
    : { live };

/**
 * Applies an event. A pure function: the same events in the same order give the same state. An event that does not concern
 * the checkpoint on trial changes nothing.
 */
export function promote(
  state: Promotion,
  event: PromotionEvent,
  settings: PromotionSettings = DEFAULT_PROMOTION,
): Promoted {
  switch (event.type) {
    case 'proposed':
      return propose(state, event.served);
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

const same = (state: Promotion): Promoted => ({ state, facts: [] });

function propose(state: Promotion, served: Served): Promoted {
  const { version } = served;
  const moved = (to: Stage, why: string): readonly CheckpointMoved[] => [
    { type: 'checkpoint-moved', version, from: undefined, to, by: 'measurement', why },
  ];
  if (state.trial?.served.version === version || state.live.version === version) return same(state);
  if (state.trial !== undefined)
    return { state, facts: moved('rejected', `version ${state.trial.served.version} is already on trial`) };
  const empty = {
    differences: EMPTY_TALLY,
    pairs: [],
    canary: EMPTY_TALLY,
    rest: EMPTY_TALLY,
    sessions: [],
    failed: 0,
  };
  const trial: Trial = { served, stage: 'candidate', ...empty };
  return { state: { ...state, trial }, facts: moved('candidate', 'proposed') };
}

const DIFFERENCES = { low: -1, high: 1 };

function weighPair(
  state: Promotion,
  event: Extract<PromotionEvent, { readonly type: 'pair-scored' }>,
  { alpha, margin, fewestPairs, mostPairs, canarySessions }: PromotionSettings,
): Promoted {
  const { trial } = state;
  if (trial?.stage !== 'candidate' || trial.served.version !== event.version) return same(state);
  if (trial.pairs.includes(event.pair) || !isScore(event.candidate) || !isScore(event.live))
    return same(state);
  const differences = addToTally(trial.differences, event.candidate - event.live);
  const next: Trial = { ...trial, differences, pairs: [...trial.pairs, event.pair] };
  const after = { ...state, trial: next };
  const { n } = differences;
  const enough = Math.log(1 / alpha);
  const low = (): string => points(lowerBound(differences, { alpha, range: DIFFERENCES }));
  if (n >= fewestPairs && evidenceAbove(differences, -margin, DIFFERENCES) >= enough)
    return pastCanary(
      moveOn(after, next, 'measurement', `at least ${low()} points better on ${n} held-out tasks`),
      canarySessions,
    );
  if (evidenceBelow(differences, -margin, DIFFERENCES) >= enough)
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
  state: Promotion,
  { session, score }: Extract<PromotionEvent, { readonly type: 'session-scored' }>,
  { alpha, canaryShare, canarySessions }: PromotionSettings,
): Promoted {
  const { trial } = state;
  if (trial?.stage !== 'canary' || trial.sessions.includes(session) || !isScore(score)) return same(state);
  const isCanary = isInCanary(session, trial.served.version, canaryShare);
  const canary = isCanary ? addToTally(trial.canary, score) : trial.canary;
  const rest = isCanary ? trial.rest : addToTally(trial.rest, score);
  const next: Trial = { ...trial, canary, rest, sessions: [...trial.sessions, session] };
  const after = { ...state, trial: next };
  const enough = Math.log(1 / alpha);
  if (evidenceWorse(canary, rest, { enough }) >= enough)
    return moveBack(after, 'measurement', `worse in ${canary.n} sessions than in ${rest.n} others`);
  if (canary.n < canarySessions) return same(after);
  return moveOn(after, next, 'measurement', `not worse in ${canary.n} sessions`);
}

function weighProbe(
  state: Promotion,
  { version, isWell }: Extract<PromotionEvent, { readonly type: 'probed' }>,
  { failedProbes }: PromotionSettings,
): Promoted {
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
function moveOn(state: Promotion, trial: Trial, by: CheckpointMoved['by'], why: string): Promoted {
  const { served, stage } = trial;
  const fact = { type: 'checkpoint-moved', version: served.version, from: stage, by, why } as const;
  if (stage === 'candidate')
    return { state: { ...state, trial: { ...trial, stage: 'canary' } }, facts: [{ ...fact, to: 'canary' }] };
  return {
    state: { live: served, previous: state.live, trial: undefined, failed: 0 },
    facts: [{ ...fact, to: 'live' }],
  };
}

const asWorse = ({ state, facts }: Promoted): Promoted => ({
  state,
  facts: facts.map((fact) => ({ ...fact, isWorse: true })),
});

/** Without required canary sessions the checkpoint goes live at once. */
function pastCanary({ state, facts }: Promoted, canarySessions: number): Promoted {
  if (canarySessions > 0 || state.trial?.stage !== 'canary') return { state, facts };
  const moved = moveOn(state, state.trial, 'measurement', 'the canary stage is switched off');
  return { state: moved.state, facts: [...facts, ...moved.facts] };
}

/** Ends the trial; without one, rolls back the live version. */
function moveBack(state: Promotion, by: CheckpointMoved['by'], why: string): Promoted {
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
function revert(state: Promotion, by: CheckpointMoved['by'], why: string): Promoted {
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
