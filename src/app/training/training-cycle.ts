import type { Clock } from '../../core/clock.ts';
import type { Fact } from '../../core/fact.ts';
import { NO_COST } from '../../learn/cost.ts';
import type { CheckpointMoved, Stage } from '../../train/promotion-event.ts';
import type { TrainNews } from './train-weights.ts';

type CycleEnd = Fact & { readonly type: 'cycle-end' };

/** A training window as a learner's cycle: it ends with a `cycle-end` fact like those of other learners. */
export interface TrainingCycle {
  hear(news: TrainNews): void;
  fail(why: string): void;
  /** `generation`: the one in force. */
  end(generation: number, isAborted: boolean): CycleEnd;
}

const LEARNER = 'trainer';

/** A canary counts as on trial, like a lesson that some sessions see. Other moves are no outcome. */
const OUTCOMES: Readonly<Partial<Record<Stage, 'trial' | 'live' | 'refused'>>> = {
  canary: 'trial',
  live: 'live',
  rejected: 'refused',
};

export function beginTrainingCycle(engine: string, clock: Clock): TrainingCycle {
  const startedAt = clock.monotonic();
  const id = `${LEARNER}/${engine}/${Math.round(clock.now())}`;
  const moves: CheckpointMoved[] = [];
  let problem: string | undefined;
  return {
    hear: (news) => {
      if (news.type === 'moved') moves.push(news.moved);
      if (news.type === 'stuck') problem = news.why;
    },
    fail: (why) => {
      problem = why;
    },
    end: (generation, isAborted) => {
      const judgements = moves.flatMap(({ version, to, why }) => {
        const outcome = OUTCOMES[to];
        const lesson = `${engine}@${version}`;
        return outcome === undefined ? [] : [{ lesson, name: `version ${version}`, outcome, why: [why] }];
      });
      return {
        type: 'cycle-end',
        cycle: id,
        learner: LEARNER,
        outcome: outcomeOf(judgements.at(-1)?.outcome, problem, isAborted),
        // The trainer has no queue of failures.
        items: [],
        turns: [],
        judgements,
        generation,
        cost: NO_COST,
        tookMs: Math.round(clock.monotonic() - startedAt),
        ...(problem === undefined ? {} : { note: problem }),
      };
    },
  };
}

function outcomeOf(
  last: 'trial' | 'live' | 'refused' | undefined,
  problem: string | undefined,
  isAborted: boolean,
): CycleEnd['outcome'] {
  if (last !== undefined) return last === 'refused' ? 'refused' : 'published';
  if (isAborted) return 'aborted';
  return problem === undefined ? 'nothing' : 'stuck';
}
