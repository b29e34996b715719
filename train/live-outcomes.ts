import type { StoredFact } from '../src/core/fact.ts';
import type { Records } from '../src/core/store.ts';
import { createCheckedTurns, type TrainingSource } from '../src/evidence/checked-turns.ts';
import { wilsonInterval } from '../src/stats/interval.ts';

/** Who may reward a live turn that trains weights. What an agent could have typed itself does not. */
const LIVE_SOURCES = ['verifier', 'person', 'check', 'judge'] as const;
type LiveSource = (typeof LIVE_SOURCES)[number];

export const isLiveSource = (source: TrainingSource | undefined): source is LiveSource =>
  LIVE_SOURCES.some((one) => one === source);

/** How far a judge's rewards are trusted, by how often a person gave the same turn a reward on the same side. */
interface JudgeTrust {
  readonly pairs: number;
  readonly agreed: number;
  /** 0 to 1, where a person's reward counts 1. */
  readonly weight: number;
}

/** Turns that both a judge and a person rewarded, below which the judge's weight is `UNPROVEN`. */
const LEAST_PAIRS = 20;
const UNPROVEN = 0.1;

/**
 * Below 20 pairs 0.1. From then on 2p − 1, where p is the lower end of the 95 % interval of the agreement: a judge that agrees
 * no more often than a coin counts nothing.
 */
export function judgeTrust(pairs: number, agreed: number): JudgeTrust {
  const { low } = wilsonInterval(agreed, pairs);
  return { pairs, agreed, weight: pairs < LEAST_PAIRS ? UNPROVEN : Math.max(0, 2 * low - 1) };
}

/** The outcomes of live turns, which each of them is compared with. */
export interface LiveOutcomes {
  /** Facts in the order of their numbers. */
  add(stored: StoredFact): void;
  /**
   * The reward minus the mean reward of the newest other outcomes of the same agent and project, times the weight of its
   * source. Left out of that mean: the turn itself and later turns of its session, whose outcomes its answer may have caused.
   * What is left does not depend on the answer, so that the mean changes the variance of the gradient and not its expectation.
   * Undefined without another outcome.
   */
  advantageOf(turn: string): number | undefined;
  judge(): JudgeTrust;
}

interface Outcome {
  readonly turn: string;
  readonly session: string;
  /** The number of its first appraisal. */
  readonly seq: number;
  readonly reward: number;
  readonly source: LiveSource;
}

/** Outcomes of one scope that a mean is made of. */
const MOST_OUTCOMES = 200;
const MOST_PAIRS = 500;

/**
 * A fold of all appraisals by verifiers, people, checks and judges, failures that fed a lesson included: they count in the mean and
 * train nothing. A later appraisal of a turn replaces an earlier one.
 */
export function createLiveOutcomes(mostOutcomes = MOST_OUTCOMES): LiveOutcomes {
  const checked = createCheckedTurns();
  const scopes = new Map<string, Map<string, Outcome>>();
  const scopeOf = new Map<string, string>();
  const pairs = new Map<string, boolean>();
  const judge = (): JudgeTrust =>
    judgeTrust(pairs.size, [...pairs.values()].filter((isAgreed) => isAgreed).length);
  const place = (
    turn: string,
    scope: string,
    outcome: Omit<Outcome, 'seq'> | undefined,
    seq: number,
  ): void => {
    const known = scopes.get(scopeOf.get(turn) ?? scope);
    const first = known?.get(turn)?.seq ?? seq;
    if (outcome === undefined) {
      known?.delete(turn);
      scopeOf.delete(turn);
      return;
    }
    const outcomes = scopes.get(scope) ?? new Map<string, Outcome>();
    scopes.set(scope, outcomes.set(turn, { ...outcome, seq: first }));
    scopeOf.set(turn, scope);
    const [oldest] = outcomes.keys();
    if (outcomes.size <= mostOutcomes || oldest === undefined) return;
    outcomes.delete(oldest);
    scopeOf.delete(oldest);
  };
  return {
    add: ({ seq, fact: stored }) => {
      const fact = checked.take(stored);
      if (fact === undefined) return;
      const { turn, session, reward, source, signals } = fact;
      const scope = JSON.stringify([fact.scope.agent, fact.scope.project]);
      // Without signals its session was erased.
      const isTelling = reward !== undefined && isLiveSource(source) && signals.length > 0;
      place(turn, scope, isTelling ? { turn, session, reward, source } : undefined, seq);
      const [byJudge, byPerson] = (['judge', 'person'] as const).map((one) => meanOf(signals, one));
      pairs.delete(turn);
      if (byJudge === undefined || byPerson === undefined) return;
      pairs.set(turn, byJudge > 0.5 === byPerson > 0.5);
      const [oldest] = pairs.keys();
      if (pairs.size > MOST_PAIRS && oldest !== undefined) pairs.delete(oldest);
    },
    advantageOf: (turn) => {
      const outcomes = scopes.get(scopeOf.get(turn) ?? '');
      const own = outcomes?.get(turn);
      if (own === undefined || outcomes === undefined) return undefined;
      const { weight: trust } = judge();
      const weightOf = ({ source }: Outcome): number => (source === 'judge' ? trust : 1);
      const sum = { reward: 0, weight: 0 };
      for (const other of outcomes.values()) {
        if (other.session === own.session && other.seq >= own.seq) continue;
        sum.reward += weightOf(other) * other.reward;
        sum.weight += weightOf(other);
      }
      return sum.weight === 0 ? undefined : weightOf(own) * (own.reward - sum.reward / sum.weight);
    },
    judge,
  };
}

function meanOf(
  signals: readonly { readonly source: TrainingSource; readonly score: number }[],
  source: TrainingSource,
): number | undefined {
  const scores = signals.flatMap((signal) => (signal.source === source ? [signal.score] : []));
  if (scores.length === 0) return undefined;
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return mean === 0.5 ? undefined : mean;
}

const PAGE = 2_000;

/** Reads the appraisals and the outcomes of checks since the last call. */
export function followOutcomes(records: Pick<Records, 'factsOf'>): () => Promise<LiveOutcomes> {
  const outcomes = createLiveOutcomes();
  let read = 0;
  return async () => {
    for (;;) {
      const pages = await Promise.all(
        (['turn-appraised', 'rules-observed'] as const).map((type) => records.factsOf(type, read, PAGE)),
      );
      // A page that is full may have left out facts that come before the last of the other one.
      const full = pages.flatMap((page) => (page.length < PAGE ? [] : (page.at(-1)?.seq ?? [])));
      const upTo = Math.min(...full);
      const facts = pages.flat().filter(({ seq }) => seq <= upTo);
      for (const stored of facts.toSorted((a, b) => a.seq - b.seq)) {
        outcomes.add(stored);
        read = stored.seq;
      }
      if (full.length === 0) return outcomes;
    }
  };
}
