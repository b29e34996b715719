import { createLruMap } from '../base/lru-map.ts';
import type { AdherenceFact } from '../core/adherence-fact.ts';
import type { RewardSource, Signal } from '../core/evidence.ts';
import type { Fact } from '../core/fact.ts';

/** Who gave a turn the reward that weights train on. */
export type TrainingSource = RewardSource | 'check';

type AppraisalFact = Fact & { readonly type: 'turn-appraised' };

interface TrainingSignal extends Omit<Signal, 'source'> {
  readonly source: TrainingSource;
}

/** An appraisal as training sees it. */
export interface CheckedAppraisal extends Omit<AppraisalFact, 'source' | 'signals'> {
  readonly source?: TrainingSource;
  readonly signals: readonly TrainingSignal[];
}

/**
 * The rewards that live turns have for training: the appraisal, and where no verifier and no person decided it, the accepted checks of the
 * rules that the answer was given with. For training alone: an answer that kept to a rule may be wrong in everything else.
 */
export interface CheckedTurns {
  /** Facts in their order. The appraisal of a turn as training sees it, when the fact says something new of it. */
  take(fact: Fact): CheckedAppraisal | undefined;
}

/** As many turns are remembered as may wait for a check or an appraisal. */
const MOST_TURNS = 4096;
const OVER_CHECKS: ReadonlySet<RewardSource | undefined> = new Set(['verifier', 'person', 'chat']);

export function createCheckedTurns(): CheckedTurns {
  const appraised = createLruMap<string, AppraisalFact>(MOST_TURNS);
  const checked = createLruMap<string, number>(MOST_TURNS);
  return {
    take: (fact) => {
      if (fact.type === 'turn-appraised') {
        appraised.set(fact.turn, fact);
        return withChecks(fact, checked.get(fact.turn));
      }
      const reward = fact.type === 'rules-observed' ? shareKept(fact) : undefined;
      if (fact.type !== 'rules-observed' || reward === undefined) return undefined;
      checked.set(fact.turn, reward);
      const known = appraised.get(fact.turn) ?? unsaid(fact);
      return known && withChecks(known, reward);
    },
  };
}

/** A turn that nobody said anything about has no appraisal in the record. */
const unsaid = ({ turn, session, sampled }: AdherenceFact): AppraisalFact | undefined =>
  sampled && {
    type: 'turn-appraised',
    turn,
    session,
    ...sampled,
    verdict: 'ambiguous',
    signals: [],
    digests: [],
  };

/** The share of the rules that an answer kept, of those with an accepted check that applied. Undefined when none did. What a model found is not counted. */
export function shareKept({ results }: AdherenceFact): number | undefined {
  const outcomes = results.flatMap(({ outcome, isProvisional, isWaiting, isJudged }) =>
    isProvisional === true || isWaiting === true || isJudged === true ? [] : [outcome],
  );
  const kept = outcomes.filter((outcome) => outcome === 'kept').length;
  const broken = outcomes.filter((outcome) => outcome === 'broken').length;
  return kept + broken === 0 ? undefined : kept / (kept + broken);
}

/** A failure that lessons are learned from stays one, and an outage says nothing. */
function withChecks(fact: AppraisalFact, reward: number | undefined): CheckedAppraisal {
  const isDecided = OVER_CHECKS.has(fact.source) || fact.verdict === 'failure';
  if (reward === undefined || isDecided || fact.verdict === 'infrastructure') return fact;
  const signal: TrainingSignal = { name: 'rules', source: 'check', score: reward, weight: 1, reason: '' };
  const verdict = reward > 0.5 ? 'success' : reward < 0.5 ? 'failure' : 'ambiguous';
  return { ...fact, verdict, reward, source: 'check', signals: [...fact.signals, signal] };
}
