import { hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { Ask, FailureCase, Learner } from '../../core/learn.ts';
import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';
import { type CycleEnd, runCycle } from '../../learn/cycle.ts';
import type { Gate } from '../../learn/gate/gate.ts';
import type { Cluster } from '../../learn/support.ts';
import { retireHarmful } from '../../library/effect/retire-harmful.ts';
import { appraise } from '../../signals/appraise.ts';
import type { Shelf } from '../library/open-shelf.ts';
import type { Log } from '../log.ts';
import { evidenceOf } from './appraise-session.ts';
import { createCase } from './failure-case.ts';
import type { LearningState } from './learning-state.ts';

export interface LearnStepOptions {
  readonly records: Records;
  readonly shelf: Shelf;
  /** Failures of one scope that start the evolver. */
  readonly failures: number;
  /** Looked up for each run: a model may be there later. */
  readonly ask: (state: LearningState) => Ask | undefined;
  /** With a model, and without one. */
  readonly evolver: Learner<readonly FailureCase[]>;
  readonly distiller: Learner<readonly FailureCase[]>;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const INSTAR = { kind: 'instar', name: 'measurement' } as const;
/** What a cluster may bring into one run: the newest. */
const MOST_CASES = 24;

/** One round of learning: whatever is ready, and the lessons that were measured to harm. The facts to be appended. */
export function createLearnStep(
  options: LearnStepOptions,
): (state: LearningState) => Promise<readonly NewFact[]> {
  const { records, shelf, failures, gate, clock, newId, log, signal } = options;
  const { library, effects } = shelf;

  const casesOf = async ({ scope, failures: waiting }: Cluster): Promise<readonly FailureCase[]> => {
    const newest = waiting.slice(-MOST_CASES);
    const cases: FailureCase[] = [];
    for (const session of new Set(newest.map((failure) => failure.session))) {
      const wanted = new Map(newest.map((failure) => [failure.turn, failure]));
      for (const evidence of await evidenceOf(session, records)) {
        const failure = wanted.get(evidence.turn);
        if (failure === undefined) continue;
        const generation = (await records.turn(evidence.turn))?.generation ?? 0;
        cases.push(
          createCase(evidence, { at: failure.at, generation, scope, appraisal: appraise(evidence) }),
        );
      }
    }
    return cases;
  };

  const evolve = async (cluster: Cluster, state: LearningState): Promise<CycleEnd | undefined> => {
    const cases = await casesOf(cluster);
    if (cases.length === 0) return undefined;
    const ask = options.ask(state);
    const learner = ask === undefined ? options.distiller : options.evolver;
    const turns = cases.map(({ turn }) => turn).sort();
    const id = hash('sha256', JSON.stringify([learner.name, turns]), 'hex').slice(0, 24);
    const { isRetryable: _, ...end } = await runCycle(
      { id, learner, material: cases, cases, items: [] },
      {
        library,
        ask,
        gate: (proposal, all) => gate(proposal, all, library),
        clock,
        newId,
        journal: (note) => log.debug({ learner: learner.name, cycle: id }, note),
        signal,
      },
    );
    log.info(
      { learner: end.learner, outcome: end.outcome, judgements: end.judgements, tookMs: end.tookMs },
      'a learning cycle is over',
    );
    return end;
  };

  return async (state) => {
    const facts: NewFact[] = [];
    for (const cluster of state.support.ready(failures, clock.now())) {
      if (signal.aborted) break;
      const end = await evolve(cluster, state);
      // Until something new is seen, or some time has passed, the same would come of it.
      state.support.postpone(cluster.key, clock.now());
      if (end !== undefined) facts.push({ at: clock.now(), fact: end });
    }
    const harmful = retireHarmful({ effects, library, by: INSTAR });
    if (harmful !== undefined) await library.publish(harmful);
    return facts;
  };
}
