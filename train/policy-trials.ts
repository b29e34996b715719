import type { Fact, StoredFact } from '../src/core/fact.ts';
import { policySubject, type TrialFact } from '../src/core/trial.ts';
import { ERROR_BUDGET, levelInSequence } from '../src/stats/error-budget.ts';
import type { CheckpointMoved } from './promotion-stages.ts';

/** The checkpoints that were tested so far, of all engines: they share one part of the error budget of all promotions. */
export interface PolicyTrials {
  add(fact: Fact): void;
  /** How many were tested. */
  places(): number;
  /** The error level of the next test. */
  nextLevel(): number;
}

export function foldPolicyTrials(events: readonly Pick<StoredFact, 'fact'>[]): PolicyTrials {
  const places = new Map<string, number>();
  const passed = new Set<string>();
  const add = (fact: Fact): void => {
    if (fact.type !== 'trial-opened' && fact.type !== 'trial-ended') return;
    if (!fact.subject.startsWith('policy/')) return;
    if (fact.type === 'trial-opened') places.set(fact.subject, fact.place);
    else if (fact.outcome === 'helpful') passed.add(fact.subject);
  };
  for (const { fact } of events) add(fact);
  const last = (): number => Math.max(0, ...places.values());
  return {
    add,
    places: last,
    nextLevel: () => levelInSequence(last() + 1, passed.size, ERROR_BUDGET.weights),
  };
}

/**
 * What a move of a checkpoint says about its test; undefined when it says nothing. A test begins with the proposal and ends with
 * the last held-out pair; what happens to a canary later is no part of it, nor is what a person decides.
 */
export function trialFactOf(
  engine: string,
  { version, from, to, by, why, isWorse }: CheckpointMoved,
  place: number,
  at: number,
): TrialFact | undefined {
  const subject = policySubject(engine, version);
  if (to === 'candidate') return { type: 'trial-opened', subject, place, until: at };
  if (from !== 'candidate' || by !== 'measurement') return undefined;
  const outcome = to === 'canary' ? 'helpful' : isWorse === true ? 'harmful' : 'no-difference';
  return { type: 'trial-ended', subject, outcome, why };
}
