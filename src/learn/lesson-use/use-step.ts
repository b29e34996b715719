import { hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { compact } from '../../core/json.ts';
import { type Ask, type FailureCase, type Learner, NO_COST } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { principalOfSession } from '../../core/principal.ts';
import type { NewFact, Records } from '../../core/store.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import type { Cycle, CycleEnd } from '../cycle.ts';
import { cycleIdOf, type WriteFacts } from '../evolve-step.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';
import type { LearningState, QueuedItem } from '../learning-state.ts';
import { shownCases } from '../live/live-material.ts';
import { createLiveMaterial } from '../live/session-material.ts';
import { readCases } from '../read-cases.ts';
import { lastTryOf, nextMidnight } from '../try-result.ts';
import type { UseCount } from './lesson-uses.ts';
import { readLessonUse } from './read-lesson-use.ts';
import type { LessonUseMaterial } from './reviser.ts';

export interface UseStepOptions {
  readonly records: Pick<Records, 'session'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lesson' | 'history' | 'publish' | 'generation'>;
  readonly reviser: Learner<LessonUseMaterial>;
  readonly run: (
    cycle: Cycle<LessonUseMaterial>,
    ask: Ask | undefined,
    state: LearningState,
  ) => Promise<CycleEnd & { readonly isRetryable: boolean }>;
  /** The model that may be shown these; undefined when there is none. */
  readonly askFor: (cases: readonly FailureCase[]) => Promise<Ask | undefined>;
  readonly hasModel: () => Promise<boolean>;
  readonly clock: Clock;
}

export interface UseStep {
  /** Looks at the lessons about which something was said: retires what people keep contradicting, queues what did not help. */
  look(state: LearningState, write: WriteFacts): Promise<void>;
  /** Asks the model about what is queued. */
  study(state: LearningState, write: WriteFacts, isStopped: () => boolean): Promise<void>;
}

const BY = { kind: 'instar', name: 'lesson use' } as const;
/** A lesson goes after so many sessions in which the user said otherwise, if these are at least a third of those since the first. */
const FEWEST_CONTRADICTED = 3;
const LEAST_SHARE = 1 / 3;
/** The numbers of sessions without help at which a model is asked. */
const ASKED_AT: ReadonlySet<number> = new Set([2, 4, 8, 16]);
const MOST_SESSIONS = 4;
const MOST_ITEMS = 2;

export function createUseStep(options: UseStepOptions): UseStep {
  const { evidence, library, reviser, clock } = options;

  const materialOf = async (lesson: Lesson, { ignored, contradicted, well }: UseCount) => {
    const failures: FailureCase[] = [];
    for (const session of [...ignored, ...contradicted].slice(-MOST_SESSIONS)) {
      const use = readLessonUse(await evidence.turns(session), library.lesson);
      const turns = [...(use.ignored.get(lesson.id) ?? []), ...(use.contradicted.get(lesson.id) ?? [])];
      const scope = await scopeOf(session);
      const found = turns.map((turn) => ({ turn, session, at: clock.now(), scope }));
      failures.push(...(await readCases(found, evidence)));
    }
    const successes: FailureCase[] = [];
    for (const session of well.slice(-MOST_SESSIONS)) {
      const material = createLiveMaterial(
        session,
        await scopeOf(session),
        await evidence.turns(session),
        clock.now(),
      );
      successes.push(...shownCases({ ...material, cases: [] }).slice(-1));
    }
    return { lesson, failures, successes };
  };
  const scopeOf = async (session: string) => {
    const view = await options.records.session(session);
    return compact({
      agent: view?.agent,
      project: view?.project?.id,
      member: principalOfSession(session),
    });
  };

  const revise = async (
    { item, session }: QueuedItem,
    state: LearningState,
  ): Promise<CycleEnd | undefined> => {
    const lesson = library.lesson(lessonOf(item));
    const count = lesson && state.uses.of(lesson.id);
    const isInUse = lesson?.state === 'trial' || lesson?.state === 'live';
    if (lesson === undefined || count === undefined || !isInUse) return nothingLeft(item, session);
    const material = await materialOf(lesson, count);
    const cases = [...material.failures, ...material.successes];
    if (material.failures.length === 0) return nothingLeft(item, session);
    const ask = await options.askFor(cases);
    if (ask === undefined) return undefined;
    const cycle = { id: cycleIdOf([item]), learner: reviser, material, cases, items: [item] };
    const { isRetryable, ...end } = await options.run(cycle, ask, state);
    if (!isRetryable) return end;
    if (end.outcome !== 'aborted')
      state.queuePauses.postpone(item, clock.now(), lastTryOf(end), nextMidnight(clock.now()));
    return undefined;
  };

  /** The lesson has changed or gone, or its sessions were erased. */
  const nothingLeft = (item: string, session: string): CycleEnd => ({
    type: 'cycle-end',
    cycle: cycleIdOf([item]),
    learner: reviser.name,
    outcome: 'nothing',
    items: [item],
    turns: [],
    sessions: [session],
    judgements: [],
    generation: library.generation,
    cost: NO_COST,
    tookMs: 0,
    note: 'nothing of it waits any more',
  });

  return {
    look: async (state, write) => {
      const queued: NewFact[] = [];
      for (const id of state.uses.takeNews()) {
        const lesson = library.lesson(id);
        const count = state.uses.of(id);
        if (lesson === undefined || count === undefined) continue;
        if (mayRetire(lesson, count, library)) await retire(lesson, count, library);
        else if (isAsked(lesson, count) && (await options.hasModel()))
          queued.push(queueFact(lesson, count, clock.now()));
      }
      await write(queued);
    },
    study: async (state, write, isStopped) => {
      const due = [...state.queue.values()].filter(
        ({ item, learner }) => learner === reviser.name && state.queuePauses.isOver(item, clock.now()),
      );
      for (const item of due.slice(0, MOST_ITEMS)) {
        if (isStopped()) return;
        const end = await revise(item, state);
        if (end !== undefined) await write([{ at: clock.now(), fact: end }]);
      }
    },
  };
}

/** Measured against a learner's lesson in use, by at least three sessions whose user said otherwise; never twice for one text. */
function mayRetire(
  lesson: Lesson,
  { contradicted, shownSince }: UseCount,
  library: UseStepOptions['library'],
): boolean {
  const { id, state, revision } = lesson;
  const wasRestored = library
    .history(id)
    .some((event) => event.state === 'retired' && event.revision === revision && event.by.name === BY.name);
  return (
    (state === 'trial' || state === 'live') &&
    contradicted.length >= FEWEST_CONTRADICTED &&
    contradicted.length >= shownSince * LEAST_SHARE &&
    whyNotRetired(lesson) === undefined &&
    !wasRestored
  );
}

async function retire(
  { id, revision, text }: Lesson,
  { contradicted, shownSince }: UseCount,
  library: UseStepOptions['library'],
): Promise<void> {
  const reason = `the user said otherwise in ${contradicted.length} of ${shownSince} sessions that it was shown in`;
  await library.publish({
    id: `use-${hash('sha256', JSON.stringify([id, revision, contradicted]), 'hex').slice(0, 24)}`,
    by: BY,
    reason: `${text.name}: ${reason}`,
    changes: [{ op: 'retire', id, reason }],
  });
}

/** Lessons that people wrote stay as they are. */
const isAsked = (lesson: Lesson, { ignored, contradicted }: UseCount): boolean =>
  (lesson.state === 'trial' || lesson.state === 'live') &&
  !lesson.frozen &&
  whyNotRetired({ ...lesson, pinned: false }) === undefined &&
  ASKED_AT.has(ignored.length + contradicted.length);

function queueFact({ id, revision }: Lesson, { ignored, contradicted }: UseCount, at: number): NewFact {
  const sessions = [...ignored, ...contradicted];
  const item = `use:${revision}:${sessions.length}:${id}`;
  return {
    at,
    fact: { type: 'learning-queued', item, learner: 'lesson-use', session: sessions.at(-1) ?? '', turns: [] },
    key: item,
  };
}

const lessonOf = (item: string): string => item.split(':').slice(3).join(':');
