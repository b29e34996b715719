import { createLruMap } from '../base/lru-map.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { RecordedChange } from '../core/lesson.ts';
import type { PlacedTurn } from '../evidence/failure-case.ts';
import type { CycleEnd } from './cycle.ts';
import {
  createPauses,
  type LastTry,
  type LearningPauses,
  lastTryOf,
  nextMidnight,
  type Pause,
} from './pauses.ts';

/** Failures to which the evolver had no usable answer, as they were put to it together. */
export interface AwaitedItem {
  readonly item: string;
  readonly failures: readonly PlacedTurn[];
  /** How often the evolver was asked about them. */
  readonly tries: number;
}

/**
 * What the evolver still has to be asked about. Folded from facts, with its pauses: a restart continues where the last process
 * was. The failures may have a lesson in the user's own words by now, which the evolver's answer revises.
 */
export interface EvolverQueue {
  add(stored: StoredFact): void;
  items(): readonly AwaitedItem[];
  /** Those whose pause is over. */
  due(now: number): readonly AwaitedItem[];
  has(turn: string): boolean;
  /** Whether this model has answered about the failure: without more material it has nothing to add. */
  isAnswered(turn: string, model: string): boolean;
  /** Why the last try gave nothing, and when the next one is. Also for a failure that was never tried because its model rests. */
  pauseOf(turn: string): Pause | undefined;
  /** The model did not answer or the budget is spent, and the pause is not over: new failures need not be put to it first. */
  isModelPaused(now: number): boolean;
  /** Lessons in the user's own words about these failures. */
  lessons(): readonly string[];
  /** When the next pause ends. */
  next(now: number): number | undefined;
}

export const EVOLVER = 'evolver';
const QUOTING = 'distiller';
const MOST_FAILURES = 5000;
/** After so many replies that could not be used, the lesson stays as it is until there is new evidence. */
const MOST_TRIES = 3;
/** After so many replies in a row that could not be used, a model is asked rarely. */
const MOST_UNUSABLE = 3;
const RARELY_MS = 15 * 60_000;
const MOST_RARELY_MS = 6 * 3_600_000;

/** The evolver had no usable answer: it failed, its reply was empty or could not be used, or the gate refused what it wrote. */
export const isUnanswered = ({ outcome, cause }: Pick<CycleEnd, 'outcome' | 'cause'>): boolean =>
  (outcome === 'stuck' && cause !== undefined) || outcome === 'refused';

/** Whether it is worth asking again: a model that is back may answer; one that found nothing would find nothing again. */
export const isAskedAgain = ({ cause }: Pick<CycleEnd, 'cause'>, tries: number): boolean =>
  cause === 'model' || cause === 'budget' || (cause !== 'nothing' && tries < MOST_TRIES);

/** The turns whose verdict is failure now: the newest of them. */
function createAppraisedFailures() {
  const failures = new Map<string, PlacedTurn>();
  return {
    add: (at: number, fact: Fact & { readonly type: 'turn-appraised' }): void => {
      const { turn, session, scope, verdict } = fact;
      if (verdict === 'failure')
        failures.set(turn, { turn, session, at: failures.get(turn)?.at ?? at, scope });
      else failures.delete(turn);
      const [oldest] = failures.keys();
      if (failures.size > MOST_FAILURES && oldest !== undefined) failures.delete(oldest);
    },
    forget: (erased: string): void => {
      for (const [turn, { session }] of failures) if (session === erased) failures.delete(turn);
    },
    of: (turns: readonly string[]): readonly PlacedTurn[] =>
      turns.flatMap((turn) => failures.get(turn) ?? []),
  };
}

/** Quoting lessons in use, with the turns they rest on. */
function createQuotingLessons() {
  const quoting = new Map<string, readonly string[]>();
  return {
    follow: (change: RecordedChange): void => {
      if (change.op === 'add' || change.op === 'revise' || change.op === 'merge') {
        const id = change.op === 'merge' ? change.into : change.id;
        const isQuoting =
          'evidence' in change.text &&
          'learner' in change.text.evidence &&
          change.text.evidence.learner === QUOTING;
        if (isQuoting) quoting.set(id, change.text.evidence?.turns ?? []);
        else quoting.delete(id);
        if (change.op === 'merge') for (const one of change.ids) if (one !== id) quoting.delete(one);
      } else if (change.op === 'retire' || (change.op === 'move' && change.to === 'rejected'))
        quoting.delete(change.id);
    },
    about: (turns: ReadonlySet<string>): readonly string[] =>
      [...quoting].flatMap(([id, cited]) => (cited.some((turn) => turns.has(turn)) ? [id] : [])),
  };
}

export function createEvolverQueue(): EvolverQueue {
  const queued = new Map<
    string,
    { readonly turns: readonly string[]; readonly model: string | undefined; tries: number }
  >();
  /** The model that answered last about each failure. */
  const answered = createLruMap<string, string>(MOST_FAILURES);
  const failures = createAppraisedFailures();
  const quoting = createQuotingLessons();
  const pauses: LearningPauses = createPauses();
  const streak = createUnusableStreak();

  const end = (item: string): void => {
    const { turns = [], model } = queued.get(item) ?? {};
    if (model !== undefined) for (const turn of turns) answered.set(turn, model);
    queued.delete(item);
    pauses.end(item);
  };
  const close = (at: number, fact: CycleEnd): void => {
    const [asked] = [...fact.items, ...(fact.tried ?? [])].filter((one) => queued.has(one));
    if (fact.learner === EVOLVER && asked !== undefined) streak.add(at, queued.get(asked)?.model, fact);
    for (const item of fact.items) end(item);
    for (const item of fact.tried ?? []) {
      const waiting = queued.get(item);
      if (waiting === undefined) continue;
      waiting.tries++;
      pauses.postpone(item, at, lastTryOf(fact), nextMidnight(at));
    }
  };
  const itemsOf = (isWanted: (item: string) => boolean): readonly AwaitedItem[] =>
    [...queued].flatMap(([item, { turns, tries }]) =>
      isWanted(item) ? [{ item, failures: failures.of(turns), tries }] : [],
    );
  const restUntil = (): number => streak.pause()?.until ?? Number.NEGATIVE_INFINITY;
  const waitingTurns = (): ReadonlySet<string> => new Set([...queued.values()].flatMap(({ turns }) => turns));

  return {
    add: ({ at, fact }) => {
      if (fact.type === 'learning-queued' && fact.learner === EVOLVER) {
        streak.meet(fact.model);
        queued.set(fact.item, {
          turns: fact.turns,
          model: fact.model,
          tries: queued.get(fact.item)?.tries ?? 0,
        });
      } else if (fact.type === 'cycle-end') close(at, fact);
      else if (fact.type === 'turn-appraised') failures.add(at, fact);
      else if (fact.type === 'library-changed') fact.changes.forEach(quoting.follow);
      else if (fact.type === 'session-erased') failures.forget(fact.session);
    },
    items: () => itemsOf(() => true),
    due: (now) => (now < restUntil() ? [] : itemsOf((item) => pauses.isOver(item, now))),
    has: (turn) => waitingTurns().has(turn),
    isAnswered: (turn, model) => answered.get(turn) === model,
    pauseOf: (turn) => {
      const item = [...queued].find(([, { turns }]) => turns.includes(turn))?.[0];
      if (item === undefined) return undefined;
      const [own, rest] = [pauses.get(item), streak.pause()];
      return (rest?.until ?? 0) > (own?.until ?? 0) ? rest : own;
    },
    isModelPaused: (now) =>
      now < restUntil() ||
      [...queued.keys()].some((item) => !pauses.isOver(item, now) && isOfModel(pauses.get(item)?.last)),
    lessons: () => quoting.about(waitingTurns()),
    next: (now) => {
      const [coming, rare] = [pauses.next(now), restUntil()];
      if (queued.size === 0 || rare <= now) return coming;
      return coming === undefined ? rare : Math.max(coming, rare);
    },
  };
}

const isOfModel = (last: LastTry | undefined): boolean => last?.cause === 'model' || last?.cause === 'budget';

/** How long a model is not asked whose last replies, about whatever it was asked, could not be used: it costs, and gives nothing. */
function createUnusableStreak() {
  let model: string | undefined;
  let count = 0;
  let since = 0;
  let last = 0;
  let reply: LastTry | undefined;
  const meet = (asked: string | undefined): void => {
    if (asked !== model) count = 0;
    model = asked;
  };
  return {
    meet,
    add: (at: number, asked: string | undefined, end: CycleEnd): void => {
      meet(asked);
      count = end.outcome === 'stuck' && end.cause === 'reply' ? count + 1 : 0;
      if (count === 1) since = at;
      last = at;
      reply = lastTryOf(end);
    },
    /** Undefined while the model is asked as usual. */
    pause: (): Pause | undefined =>
      count < MOST_UNUSABLE
        ? undefined
        : {
            until: last + Math.min(MOST_RARELY_MS, RARELY_MS * 2 ** (count - MOST_UNUSABLE)),
            since,
            last: reply,
          },
  };
}
