import { hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { FailureCase, Learner } from '../../core/learn.ts';
import { type ChangeSet, isInUse, type Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { NewFact, Records } from '../../core/store.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readCases } from '../../evidence/failure-case.ts';
import type { WriterAccess } from '../asked-models.ts';
import { decidedLearner } from '../cycle.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';
import { shownCases } from '../live/live-material.ts';
import { createLiveMaterial } from '../live/session-material.ts';
import { createQueuedRow, scopeOfSession } from '../queued-items.ts';
import { decidedPiece, type LearnerRow } from '../runner.ts';
import { readLessonUse, type UseCount } from './lesson-uses.ts';
import type { LessonUseMaterial } from './reviser.ts';

interface LessonUseOptions {
  readonly records: Pick<Records, 'session'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lesson' | 'history' | 'generation'>;
  readonly reviser: Learner<LessonUseMaterial>;
  readonly writer: Pick<WriterAccess, 'model' | 'askForAll'>;
  readonly clock: Clock;
}

const BY = { kind: 'instar', name: 'lesson use' } as const;
/** A lesson goes after so many sessions in which the user said otherwise, if these are at least a third of those since the first. */
const FEWEST_CONTRADICTED = 3;
const LEAST_SHARE = 1 / 3;
/** The numbers of sessions without help at which a model is asked. */
const ASKED_AT: ReadonlySet<number> = new Set([2, 4, 8, 16]);
const MOST_SESSIONS = 4;
const MOST_ITEMS = 2;

/** Looks at the lessons about which something was said: retires what people keep contradicting, queues what did not help. */
export const createUseRow = ({ library, writer, clock }: LessonUseOptions): LearnerRow => ({
  name: 'lesson use',
  due: () => true,
  learn: decidedLearner(BY.name),
  material: async function* (state) {
    const queued: NewFact[] = [];
    for (const id of state.uses.takeNews()) {
      const lesson = library.lesson(id);
      const count = state.uses.of(id);
      if (lesson === undefined || count === undefined) continue;
      if (mayRetire(lesson, count, library)) yield decidedPiece(retirementOf(lesson, count));
      else if (isAsked(lesson, count) && (await writer.model()) !== undefined)
        queued.push(queueFact(lesson, count, clock.now()));
    }
    if (queued.length > 0) yield { journal: queued };
  },
});

/** Asks the model to word what is queued anew. */
export function createReviserRow(options: LessonUseOptions): LearnerRow {
  const { evidence, records, library, reviser, writer, clock } = options;
  const failuresOf = async (lesson: Lesson, sessions: readonly string[]): Promise<readonly FailureCase[]> => {
    const failures: FailureCase[] = [];
    for (const session of sessions.slice(-MOST_SESSIONS)) {
      const use = readLessonUse(await evidence.turns(session), library.lesson);
      const turns = [...(use.ignored.get(lesson.id) ?? []), ...(use.contradicted.get(lesson.id) ?? [])];
      const scope = await scopeOfSession(session, records);
      const references = turns.map((turn) => ({ turn, session, at: clock.now(), scope }));
      failures.push(...(await readCases(references, evidence)));
    }
    return failures;
  };
  const successesOf = async (sessions: readonly string[]): Promise<readonly FailureCase[]> => {
    const successes: FailureCase[] = [];
    for (const session of sessions.slice(-MOST_SESSIONS)) {
      const scope = await scopeOfSession(session, records);
      const material = createLiveMaterial(session, scope, await evidence.turns(session), clock.now());
      successes.push(...shownCases({ ...material, cases: [] }).slice(-1));
    }
    return successes;
  };
  return createQueuedRow({
    learn: reviser,
    most: MOST_ITEMS,
    library,
    clock,
    open: async ({ item }, state) => {
      const lesson = library.lesson(lessonOf(item));
      const count = lesson && state.uses.of(lesson.id);
      if (lesson === undefined || count === undefined || !isInUse(lesson)) return 'gone';
      const failures = await failuresOf(lesson, [...count.ignored, ...count.contradicted]);
      const successes = await successesOf(count.well);
      if (failures.length === 0) return 'gone';
      const cases = [...failures, ...successes];
      const ask = await writer.askForAll(cases);
      return ask === undefined ? 'waits' : { material: { lesson, failures, successes }, cases, ask };
    },
  });
}

/** Measured against a learner's lesson in use, by at least three sessions whose user said otherwise; never twice for one text. */
function mayRetire(
  lesson: Lesson,
  { contradicted, shownSince }: UseCount,
  library: LessonUseOptions['library'],
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

function retirementOf({ id, revision, text }: Lesson, { contradicted, shownSince }: UseCount): ChangeSet {
  const reason = `the user said otherwise in ${contradicted.length} of ${shownSince} sessions that it was shown in`;
  return {
    id: `use-${hash('sha256', JSON.stringify([id, revision, contradicted]), 'hex').slice(0, 24)}`,
    by: BY,
    reason: `${text.name}: ${reason}`,
    changes: [{ op: 'retire', id, reason }],
  };
}

/** Lessons that people wrote stay as they are. */
const isAsked = (lesson: Lesson, { ignored, contradicted }: UseCount): boolean =>
  isInUse(lesson) &&
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
