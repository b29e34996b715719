import type { Clock } from '../core/clock.ts';
import { type Ask, type EvidenceCase, type Learner, NO_COST } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { placeOfSession } from '../core/principal.ts';
import type { NewFact, Records } from '../core/store.ts';
import type { AppraisedTurn } from '../evidence/evidence-reader.ts';
import { type CycleEnd, cycleIdOf } from './cycle.ts';
import type { LearningState, QueuedItem } from './learning-state.ts';
import { lastTryOf, nextMidnight } from './pauses.ts';
import type { LearnerRow } from './runner.ts';

/** What a queued item is about. */
export interface ItemMaterial<Material> {
  readonly material: Material;
  readonly cases: readonly EvidenceCase[];
  readonly ask: Ask | undefined;
}

interface QueuedLearner<Material> {
  readonly learn: Learner<Material>;
  /** Items of one round. */
  readonly most: number;
  /** `waits`: not now; `gone`: nothing of it is left to learn from. */
  readonly open: (
    item: QueuedItem,
    state: LearningState,
  ) => Promise<ItemMaterial<Material> | 'waits' | 'gone'>;
  /** The turns of an item are not used up: a failure among them is still to be learned from. */
  readonly keepsTurns?: true;
  readonly library: Pick<Library, 'generation'>;
  readonly clock: Clock;
}

/** Learns from what is queued for it (`learning-queued`), the oldest item first. An item whose model is unavailable stays queued. */
export function createQueuedRow<Material>(options: QueuedLearner<Material>): LearnerRow {
  const { learn, most, open, keepsTurns = false, library, clock } = options;
  const dueItems = (state: LearningState, now: number): readonly QueuedItem[] =>
    [...state.queue.values()].filter(
      ({ item, learner }) => learner === learn.name && state.queuePauses.isOver(item, now),
    );
  return {
    name: learn.name,
    due: (state, now) => dueItems(state, now).length > 0,
    learn,
    material: async function* (state) {
      for (const queued of dueItems(state, clock.now()).slice(0, most)) {
        const { item, session } = queued;
        const opened = await open(queued, state);
        if (opened === 'gone')
          yield { journal: [{ at: clock.now(), fact: nothingLeft(learn.name, item, session, library) }] };
        if (typeof opened === 'string') continue;
        yield {
          id: cycleIdOf([item]),
          items: [item],
          ...opened,
          facts: (end, isRetryable) => {
            if (isRetryable && end.outcome !== 'aborted')
              state.queuePauses.postpone(item, clock.now(), lastTryOf(end), nextMidnight(clock.now()));
            return isRetryable ? [] : [{ at: clock.now(), fact: keepsTurns ? { ...end, turns: [] } : end }];
          },
        };
      }
    },
  };
}

/** Queues a session for the model that reads: as facts, which are none where nothing is unread and where no model reads. */
export interface ReadingQueue {
  /** The session has ended. */
  ended(session: string, turns: readonly AppraisedTurn[], now: number): Promise<readonly NewFact[]>;
  /** While it goes on: one of the changed turns (undefined: of all) may have been corrected by the message after it. */
  changed(session: string, turns: readonly string[] | undefined, now: number): Promise<readonly NewFact[]>;
}

/** The lesson has changed or gone, or its sessions were erased. */
const nothingLeft = (
  learner: string,
  item: string,
  session: string,
  { generation }: Pick<Library, 'generation'>,
): CycleEnd => ({
  type: 'cycle-end',
  cycle: cycleIdOf([item]),
  learner,
  outcome: 'nothing',
  items: [item],
  turns: [],
  sessions: [session],
  judgements: [],
  generation,
  cost: NO_COST,
  tookMs: 0,
  note: 'nothing of it waits any more',
});

/** Where what is learned in a session applies. */
export async function scopeOfSession(session: string, records: Pick<Records, 'session'>): Promise<Scope> {
  const view = await records.session(session);
  return placeOfSession(session, { agent: view?.agent, project: view?.project?.id });
}
