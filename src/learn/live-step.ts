import type { Clock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { Ask, Learner } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import { principalOfSession } from '../core/principal.ts';
import type { Records } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import type { Cycle, CycleEnd } from './cycle.ts';
import { cycleIdOf, type WriteFacts } from './evolve-step.ts';
import type { LearningState, QueuedItem } from './learning-state.ts';
import { type LiveMaterial, shownCases } from './live/live-material.ts';
import { createLiveMaterial } from './live/session-material.ts';
import { lastTryOf, nextMidnight } from './try-result.ts';

export interface LiveStepOptions {
  readonly records: Pick<Records, 'session'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly live: Learner<LiveMaterial>;
  readonly run: <Material>(
    cycle: Cycle<Material>,
    ask: Ask | undefined,
    state: LearningState,
  ) => Promise<CycleEnd & { readonly isRetryable: boolean }>;
  /** The model that may be shown a session; undefined when there is none. */
  readonly askFor: (session: string) => Promise<Ask | undefined>;
  readonly clock: Clock;
}

const MOST_ITEMS = 4;

/** Learns from sessions that have ended, a few at a time. While the model is unavailable, an item stays queued. */
export function createLiveStep({
  records,
  evidence,
  live,
  run,
  askFor,
  clock,
}: LiveStepOptions): (state: LearningState, write: WriteFacts, isStopped: () => boolean) => Promise<void> {
  const learn = async (
    { item, session }: QueuedItem,
    state: LearningState,
  ): Promise<CycleEnd | undefined> => {
    const view = await records.session(session);
    const scope: Scope = compact({
      agent: view?.agent,
      project: view?.project?.id,
      member: principalOfSession(session),
    });
    const turns = await evidence.turns(session);
    const material = createLiveMaterial(session, scope, turns, clock.now());
    const cycle = {
      id: cycleIdOf([item]),
      learner: live,
      material,
      cases: shownCases(material),
      items: [item],
    };
    const { isRetryable, ...end } = await run(cycle, await askFor(session), state);
    if (!isRetryable) return end;
    if (end.outcome !== 'aborted')
      state.queuePauses.postpone(item, clock.now(), lastTryOf(end), nextMidnight(clock.now()));
    return undefined;
  };
  return async (state, write, isStopped) => {
    const isDue = ({ item, learner }: QueuedItem): boolean =>
      learner === live.name && state.queuePauses.isOver(item, clock.now());
    for (const item of [...state.queue.values()].filter(isDue).slice(0, MOST_ITEMS)) {
      if (isStopped()) return;
      const end = await learn(item, state);
      if (end !== undefined) await write([{ at: clock.now(), fact: end }]);
    }
  };
}
