import type { Clock } from '../core/clock.ts';
import { type Ask, addCost, type Cost, NO_COST } from '../core/learn.ts';
import type { NewFact } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import { blindEvidence, createJudge, createRulingCache } from '../evidence/judge/judge.ts';
import { stepsTest } from '../evidence/judge/judge-test.ts';
import type { LearningState } from './learning-state.ts';

interface JudgeTurnsOptions {
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  /** Undefined when no judge model is configured. `model`: its name, because another model may rule otherwise. */
  readonly ask: (state: LearningState) => Promise<{ readonly ask: Ask; readonly model: string } | undefined>;
  readonly generation: () => number;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly signal: AbortSignal;
}

const MOST_AT_ONCE = 8;
/** Until so many turns are compared, each look also asks about one turn that somebody else has decided. */
const ENOUGH_COMPARED = 40;

/**
 * Asks the judge about undecided turns, a few at a time, and, to know how far to trust it, about turns whose outcome a verifier or
 * a person has told, without showing it what they said. Returns its rewards and its cost as facts: a reward of the judge changes
 * nothing where a more trusted source has spoken.
 */
export function createJudgeTurns(
  options: JudgeTurnsOptions,
): (state: LearningState) => Promise<readonly NewFact[]> {
  const { clock, signal } = options;
  const cache = createRulingCache();
  return async (state) => {
    const { undecided, audits, calibration } = state;
    const asked = undecided.size === 0 ? undefined : await options.ask(state);
    if (asked === undefined) return [];
    const startedAt = clock.monotonic();
    const facts: NewFact[] = [];
    let cost = NO_COST;
    // Before its first verdict, and again when the model, the steps or the question have changed, and from time to time.
    if (stepsTest.isDue(calibration.tested(), asked.model, clock.now())) {
      const end = await stepsTest.run(asked.ask, asked.model, signal);
      state.judgeFault = end.ok ? undefined : end.why;
      const tested = cycleEnd(options, end.cost, startedAt, 'the judge was tested with planted steps');
      const costs = end.cost.calls === 0 ? [] : [{ at: clock.now(), fact: tested }];
      // Its fold decides at the next look whether the judge is asked.
      return end.ok ? [{ at: clock.now(), fact: end.test }, ...costs] : costs;
    }
    if (!calibration.status().isTrusted) return [];
    const judge = createJudge({ ...asked, cache, calibration });
    const compared = calibration.status().turns < ENOUGH_COMPARED ? [...audits].slice(-1) : [];
    let asks = 0;
    for (const [turn, session] of [...compared, ...undecided]) {
      if (asks >= MOST_AT_ONCE) break;
      const isAudit = !undecided.has(turn);
      const [known] = await options.evidence.turns(session, [turn]);
      audits.delete(turn);
      if (known === undefined) {
        undecided.delete(turn);
        continue;
      }
      const { evidence, appraisal } = known;
      const shown = isAudit ? blindEvidence(evidence, appraisal) : ([evidence, appraisal] as const);
      const ruling = await judge(...shown, signal);
      if (ruling.kind !== 'skipped') {
        cost = addCost(cost, ruling.cost);
        asks++;
      }
      // The model is unavailable, or the budget is spent: the other turns would fail too.
      state.judgeFault = ruling.kind === 'unknown' && ruling.isRetryable ? ruling.why : undefined;
      if (state.judgeFault !== undefined) break;
      undecided.delete(turn);
      if (ruling.kind !== 'ruled') continue;
      const { source, score, note } = ruling.reward;
      facts.push({
        at: clock.now(),
        fact: { type: 'reward-given', turn, source, score, note },
        key: `judge:${turn}`,
      });
    }
    if (cost.calls === 0) return facts;
    const end = cycleEnd(options, cost, startedAt, `${facts.length} turns judged`);
    return [...facts, { at: clock.now(), fact: end }];
  };
}

const cycleEnd = (
  { clock, newId, generation }: JudgeTurnsOptions,
  cost: Cost,
  startedAt: number,
  note: string,
): NewFact['fact'] => ({
  type: 'cycle-end',
  cycle: newId('cycle'),
  learner: 'judge',
  outcome: 'nothing',
  items: [],
  turns: [],
  judgements: [],
  generation: generation(),
  cost,
  tookMs: Math.round(clock.monotonic() - startedAt),
  note,
});
