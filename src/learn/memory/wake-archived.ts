import { hash } from 'node:crypto';
import { createLruMap } from '../../base/lru-map.ts';
import type { StoredFact } from '../../core/fact.ts';
import { type Author, type Change, isInUse, type Lesson, type Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { activationOf, type Usefulness } from '../../lessons/recall/activation.ts';
import { scopesOverlap } from '../../lessons/scope.ts';
import { comparedText, cosineSimilarity, TASK_LIKENESS } from '../../lessons/similar/compare.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { topicStems } from '../../text/topic-words.ts';
import { decidedLearner } from '../cycle.ts';
import type { FactFold } from '../learning-state.ts';
import { decidedPiece, type LearnerRow } from '../runner.ts';
import { isFresh, type LessonFacts, lastReturn, whyKept, wordsSince } from './kept-lessons.ts';

/** A request of somebody who is learned from. */
interface WakingRequest {
  readonly text: string;
  readonly at: number;
  readonly scope: Scope;
}

const CONSOLIDATION: Author = { kind: 'instar', name: 'consolidation' };

type Move = Extract<Change, { readonly op: 'move' }>;

/** The words that a request and a lesson that is about it share. */
const FEWEST_SHARED = 2;
const MOST_WOKEN = 16;
const LONGEST = 2000;
const MOST_WAITING = 100;
const MOST_SESSIONS = 4000;

/** Which archived lessons these requests are about: they come back in the state that they had. */
export async function wakeArchived(
  requests: readonly WakingRequest[],
  library: Pick<Library, 'lessons' | 'history'>,
  embed: EmbeddingModel['embed'],
  embedLessons = embed,
): Promise<readonly Move[]> {
  const archived = library.lessons().filter(isArchived);
  if (archived.length === 0 || requests.length === 0) return [];
  const vectors = await embedLessons(archived.map(comparedText));
  const asked = await embed(requests.map(({ text }) => text.slice(0, LONGEST)));
  const woken = new Map<string, Move>();
  requests.forEach(({ text, at, scope }, index) => {
    const stems = topicStems(text);
    const near = archived
      .map((lesson, place) => ({ lesson, cosine: cosineSimilarity(asked[index], vectors[place]) }))
      // What was asked before it was archived did not need it.
      .filter(({ lesson, cosine }) => cosine >= TASK_LIKENESS.aboutLesson && at > lesson.changedAt)
      .filter(
        ({ lesson }) => scopesOverlap(lesson.text.scope, scope) && sharedWith(lesson, stems) >= FEWEST_SHARED,
      )
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, MOST_WOKEN);
    for (const { lesson } of near) woken.set(lesson.id, wake(lesson, library));
  });
  return [...woken.values()];
}

function wake({ id }: Lesson, library: Pick<Library, 'history'>): Move {
  const before = library.history(id).findLast(isInUse)?.state;
  return { op: 'move', id, to: before === 'trial' ? 'trial' : 'live', reason: 'a request is about it again' };
}

const sharedWith = (lesson: Lesson, stems: ReadonlySet<string>): number =>
  [...topicStems(comparedText(lesson))].filter((word) => stems.has(word)).length;

interface WakingOptions {
  readonly library: Library;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly embed: EmbeddingModel['embed'];
}

/** The first turn of a session. */
interface BegunSession {
  readonly session: string;
  readonly turn: string;
  readonly at: number;
  readonly scope: Scope;
}

/** Brings archived lessons back when a session begins with a request about them: the next session is shown them. */
export function createWakingRow({ library, evidence, embed }: WakingOptions): LearnerRow & FactFold {
  const begunSessions = createLruMap<string, true>(MOST_SESSIONS);
  const vectors = createLruMap<string, Float32Array>(MOST_SESSIONS);
  let waiting: readonly BegunSession[] = [];
  /** Of lessons alone: the words of a request are not kept. */
  const embedOnce: EmbeddingModel['embed'] = async (texts) => {
    const missing = [...new Set(texts.filter((text) => vectors.get(text) === undefined))];
    const made = missing.length === 0 ? [] : await embed(missing);
    const fresh = new Map(missing.map((text, at) => [text, made[at]]));
    for (const [text, vector] of fresh) if (vector !== undefined) vectors.set(text, vector);
    return texts.map((text) => vectors.get(text) ?? fresh.get(text) ?? new Float32Array());
  };
  const wakeFor = async (begun: readonly BegunSession[]): Promise<readonly Move[]> => {
    const archivedAt = library
      .lessons()
      .filter(isArchived)
      .map(({ changedAt }) => changedAt);
    const requests: WakingRequest[] = [];
    for (const { session, turn, at, scope } of begun.filter((one) => one.at > Math.min(...archivedAt))) {
      const read = (await evidence.turns(session)).find(({ evidence: one }) => one.turn === turn);
      if (read !== undefined) requests.push({ text: read.evidence.task, at, scope });
    }
    return wakeArchived(requests, library, embed, embedOnce);
  };
  return {
    name: 'waking',
    fault: 'archived lessons could not be compared with requests',
    add: ({ at, fact }: StoredFact) => {
      if (fact.type !== 'turn-appraised' || begunSessions.get(fact.session) === true) return;
      begunSessions.set(fact.session, true);
      const { session, turn, scope } = fact;
      waiting = [...waiting, { session, turn, at, scope }].slice(-MOST_WAITING);
    },
    due: () => waiting.length > 0,
    learn: decidedLearner(CONSOLIDATION.name),
    material: async function* () {
      const begun = waiting;
      waiting = [];
      let isDone = false;
      try {
        const changes = await wakeFor(begun);
        const states = changes.map(({ id }) => [id, library.lesson(id)?.changedAt]);
        const id = `wake_${hash('sha256', JSON.stringify(states)).slice(0, 24)}`;
        if (changes.length > 0)
          yield decidedPiece({
            id,
            by: CONSOLIDATION,
            reason: 'requests are about archived lessons',
            changes,
          });
        isDone = true;
      } finally {
        if (!isDone) waiting = [...begun, ...waiting].slice(-MOST_WAITING);
      }
    },
  };
}

const DAY_MS = 86_400_000;
/** How far above its floor a decayed activation may be. */
const MARGIN = 0.05;
const HALF_LIVES = 4;
/** With more lessons in use than this less is enough, the least active first, until so many are left: recall searches a thousand in a millisecond or two. */
export const MOST_IN_USE = 1000;
const CROWDED_HALF_LIVES = 2;
/** Begins the reason of an archived lesson. */
const ARCHIVED = 'archived:';

export const isArchived = ({ state, reason }: Pick<Lesson, 'state' | 'reason'>): boolean =>
  state === 'retired' && reason?.startsWith(ARCHIVED) === true;

interface DecayInput {
  readonly lessons: readonly Lesson[];
  readonly usefulness: (id: string) => Usefulness;
  readonly facts: LessonFacts;
  readonly mostInUse: number;
}

/**
 * Retires lessons whose activation has fallen to its floor and that no successful session has used for four half-lives; in a crowded
 * library for two. What is retired stays in the record, is found by `lessons
 * list --archived`, and comes back by `lessons restore`, or when somebody asks about it. A person's word does not decay.
 */
export function archiveDecayed({
  lessons,
  usefulness,
  facts,
  mostInUse,
}: DecayInput): readonly Extract<Change, { readonly op: 'retire' }>[] {
  const unused = lessons.flatMap((lesson) => {
    if (isPersonsWord(lesson) || whyKept(lesson, facts) !== undefined) return [];
    const idle = idleness(lesson, usefulness(lesson.id), facts);
    return idle === undefined ? [] : [{ lesson, ...idle }];
  });
  const decayed = unused.filter(({ isDecayed }) => isDecayed);
  const room = lessons.length - decayed.length - mostInUse;
  const crowded = unused
    .filter(({ isDecayed }) => !isDecayed)
    .sort((a, b) => a.activation - b.activation || (a.lesson.id < b.lesson.id ? -1 : 1))
    .slice(0, Math.max(0, room));
  return [...decayed, ...crowded].map(({ lesson, last }) => ({
    op: 'retire',
    id: lesson.id,
    reason: `${ARCHIVED} no session needed it for ${Math.round((facts.now - last) / DAY_MS)} days`,
  }));
}

/** Undefined for a lesson that was used, told or changed lately, or has proven itself. */
function idleness(
  lesson: Lesson,
  uses: Usefulness,
  facts: LessonFacts,
): { readonly last: number; readonly activation: number; readonly isDecayed: boolean } | undefined {
  if (uses.isProven) return undefined;
  const { now } = facts;
  const changedAt = wordsSince(lesson, facts);
  const returned = lastReturn(lesson.id, facts) ?? changedAt;
  const last = uses.uses.reduce((newest, { at }) => Math.max(newest, at), Math.max(changedAt, returned));
  const halfLives = (now - last) / DAY_MS / lesson.text.note.halfLifeDays;
  if (halfLives < CROWDED_HALF_LIVES || isFresh(lesson, facts)) return undefined;
  const aged = { ...lesson, changedAt };
  const activation = activationOf(aged, uses, now);
  const above = activation - activationOf(aged, uses, Number.POSITIVE_INFINITY);
  return { last, activation, isDecayed: halfLives >= HALF_LIVES && above <= MARGIN };
}
