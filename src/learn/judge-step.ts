import type { Clock } from '../core/clock.ts';
import type { Ask } from '../core/learn.ts';
import { addCost, NO_COST } from '../core/learn.ts';
import type { NewFact } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import { createJudge, type Judge } from '../evidence/judge/judge.ts';
import type { LearningState } from './learning-state.ts';

export interface JudgeStepOptions {
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  /** Undefined when no judge model is configured. */
  readonly ask: (state: LearningState) => Promise<Ask | undefined>;
  readonly generation: () => number;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly signal: AbortSignal;
}

const MOST_AT_ONCE = 8;

/** Asks the judge about undecided turns, a few at a time. Returns its rewards and its cost as facts. */
export function createJudgeStep(
  options: JudgeStepOptions,
): (state: LearningState) => Promise<readonly NewFact[]> {
  const { clock, newId, signal } = options;
  let judge: Judge | undefined;
  return async (state) => {
    const ask = state.undecided.size === 0 ? undefined : await options.ask(state);
    if (ask === undefined) return [];
    judge ??= createJudge({ ask, calibration: state.calibration });
    const startedAt = clock.monotonic();
    const facts: NewFact[] = [];
    let cost = NO_COST;
    for (const [turn, session] of [...state.undecided].slice(0, MOST_AT_ONCE)) {
      const [known] = await options.evidence.turns(session, [turn]);
      if (known === undefined) {
        state.undecided.delete(turn);
        continue;
      }
      const ruling = await judge(known.evidence, known.appraisal, signal);
      if (ruling.kind !== 'skipped') cost = addCost(cost, ruling.cost);
      // The model is unavailable, or the budget is spent: the other turns would fail too.
      state.judgeFault = ruling.kind === 'unknown' && ruling.isRetryable ? ruling.why : undefined;
      if (state.judgeFault !== undefined) break;
      state.undecided.delete(turn);
      if (ruling.kind !== 'ruled' || ruling.reward.weight === 0) continue;
      const { source, score, note } = ruling.reward;
      facts.push({
        at: clock.now(),
        fact: { type: 'reward-given', turn, source, score, note },
        key: `judge:${turn}`,
      });
    }
    if (cost.calls === 0) return facts;
    const end = {
      type: 'cycle-end' as const,
      cycle: newId('cycle'),
      learner: 'judge',
      outcome: 'nothing' as const,
      items: [],
      turns: [],
      judgements: [],
      generation: options.generation(),
      cost,
      tookMs: Math.round(clock.monotonic() - startedAt),
      note: `${facts.length} turns judged`,
    };
    return [...facts, { at: clock.now(), fact: end }];
  };
}
