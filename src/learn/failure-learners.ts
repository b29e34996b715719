import { createLruMap } from '../base/lru-map.ts';
import type { Clock } from '../core/clock.ts';
import { type FailureCase, type Learner, NO_COST } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { placeKey } from '../core/principal.ts';
import type { NewFact } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import type { PlacedTurn } from '../evidence/failure-case.ts';
import { readCases } from '../evidence/failure-case.ts';
import type { AskedModel, WriterAccess } from './asked-models.ts';
import type { CompareQuotes } from './compare-words.ts';
import { type CycleEnd, cycleIdOf } from './cycle.ts';
import { wordsAbout } from './draft-lesson.ts';
import { type AwaitedItem, EVOLVER, isAskedAgain, isUnanswered } from './evolver-queue.ts';
import { type FailureCluster, saidForLater } from './failure-clusters.ts';
import type { LearningState } from './learning-state.ts';
import { lastTryOf, NOTHING_FOUND, nextMidnight } from './pauses.ts';
import { isReadingDue } from './read-words.ts';
import { createRepeatedRemarks } from './remarks.ts';
import type { LearnerJournal, LearnerRow, LearningPiece, LearningPieces } from './runner.ts';

interface FailureLearnersOptions {
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lessons' | 'generation'>;
  /** The number of failures in one scope that starts a learner. */
  readonly failures: number;
  readonly writer: WriterAccess;
  /** The evolver needs a model, the distiller does not. */
  readonly evolver: Learner<readonly FailureCase[]>;
  readonly distiller: Learner<readonly FailureCase[]>;
  /** Tells whether people said the same in other words. */
  readonly compareQuotes: CompareQuotes;
  readonly clock: Clock;
  /** How long new failures wait for the evolver's answer before the lesson in the user's own words takes its place. */
  readonly patienceMs?: number | undefined;
}

interface FailureLearners {
  /** In the order in which new evidence is learned from. */
  readonly evidence: readonly LearnerRow[];
  /** Asks the evolver again about what it still owes. */
  readonly again: LearnerRow;
}

const PATIENCE_MS = 10_000;
/** The newest failures that one run uses. */
const MOST_CASES = 24;
/** Agents and projects that the evolver is asked about again in one round. */
const MOST_PLACES = 4;
/** More than wait at a time (`failure-clusters`). */
const MOST_FAILURES = 5_000;

/** Pieces that answer with the end of the cycle, when there is one that can be used. */
type AnsweredPieces = AsyncGenerator<
  LearningPiece | LearnerJournal,
  CycleEnd | undefined,
  CycleEnd | undefined
>;

/**
 * Learning from failures and from what people state. New evidence never waits for a model longer than its patience: where the evolver
 * has no usable answer, the lesson in the user's own words takes its place at once, and the evolver revises it later.
 */
export function createFailureLearners(options: FailureLearnersOptions): FailureLearners {
  const { evidence, failures, writer, evolver, distiller, clock } = options;
  const debts = createEvolverDebts(options);

  const distill = createDistill(options);
  const { isUnasked, hasNews, distilled } = createFailureNews(debts);
  const waitsForReader = createReaderPatience(options);

  async function* learnFrom(
    cluster: FailureCluster,
    state: LearningState,
    model: AskedModel | undefined,
  ): LearningPieces {
    const read = (await readCases(cluster.failures.slice(-MOST_CASES), evidence)).filter(
      // A model may just have read that the answer was not corrected.
      ({ appraisal }) => appraisal.verdict === 'failure',
    );
    const cases = cluster.isEarly ? saidForLater(read, model !== undefined) : read;
    const visible = await writer.visibleCases(model, cases);
    const isEnough =
      isUnasked(cluster, state, model) &&
      visible.length > 0 &&
      visible.length >= Math.min(failures, cases.length);
    const asked = model !== undefined && isEnough ? visible : [];
    // What the evolver still owes for the same place is put to it together with what is new: one lesson may serve all of it.
    const owed =
      asked.length === 0 ? [] : await writer.visibleCases(model, await debts.of(cluster.scope, asked, state));
    const answer =
      model === undefined || asked.length === 0
        ? undefined
        : yield* debts.ask([...owed, ...asked], model, state);
    // What the model may not see, and what it has no usable answer to, is learned from without one.
    const used = new Set(answer?.turns);
    const isLeft = (one: FailureCase): boolean =>
      !asked.includes(one) ||
      answer === undefined ||
      (answer.outcome !== 'aborted' && !used.has(one.turn) && wordsAbout(one).length > 0);
    const end = yield* distill(cases.filter(isLeft));
    if (answer?.outcome === 'aborted' || end?.outcome === 'aborted') return;
    distilled(cluster);
    // A new run would give the same result until there is a new failure or some time has passed; at midnight there is a new
    // budget. What stopped the model is the reason to wait.
    state.support.postpone(cluster, clock.now(), lastTryOf(answer ?? end), nextMidnight(clock.now()));
  }

  const learnFromRemarks = createRemarkMaterial(options, distill);
  const hasRemarks = (state: LearningState): boolean => state.remarks.fresh().length > 0;

  return {
    evidence: [
      {
        // Without a model the same learner reads both: what was stated before counts with the correction that says it again.
        name: 'remarks without a model',
        due: hasRemarks,
        material: async function* (state) {
          if ((await writer.model()) === undefined) yield* learnFromRemarks(state);
        },
        learn: distiller,
      },
      {
        name: 'failures',
        due: (state) => state.support.size > 0,
        material: async function* (state) {
          // A process that died after it had asked the evolver may not have come to the lesson in the user's own words.
          const model = await writer.model();
          for (const cluster of state.support.ready(failures, clock.now()))
            if (hasNews(cluster, state, model)) {
              if (!waitsForReader(cluster, state)) yield* learnFrom(cluster, state, model);
            } else state.support.postpone(cluster, clock.now(), NOTHING_FOUND, nextMidnight(clock.now()));
        },
        learn: evolver,
      },
      { name: 'remarks', due: hasRemarks, material: learnFromRemarks, learn: distiller },
    ],
    again: {
      name: EVOLVER,
      due: (state, now) => state.evolver.due(now).length > 0,
      material: debts.again,
      learn: evolver,
    },
  };
}

/** What of a cluster was not learned from yet. */
function createFailureNews(debts: Pick<EvolverDebts, 'isAsked'>) {
  /** Failures that this process has put to the distiller, or that it need not be given. */
  const given = createLruMap<string, true>(MOST_FAILURES);
  /** Whether the model was not asked about some of them. It is asked about what it owes again when the pause is over. */
  const isUnasked = (
    { failures }: FailureCluster,
    state: LearningState,
    model: AskedModel | undefined,
  ): boolean =>
    failures.some(
      ({ turn }) =>
        !state.evolver.has(turn) &&
        !debts.isAsked(turn) &&
        !(model !== undefined && state.evolver.isAnswered(turn, model.model)),
    );
  const hasNews: typeof isUnasked = (cluster, state, model) =>
    isUnasked(cluster, state, model) || cluster.failures.some(({ turn }) => given.get(turn) === undefined);
  const distilled = ({ failures }: FailureCluster): void => {
    for (const { turn } of failures) given.set(turn, true);
  };
  return { isUnasked, hasNews, distilled };
}

/** Whether failures wait for the model that reads what was said after them: once, and not longer than for the evolver. */
function createReaderPatience({
  clock,
  patienceMs = PATIENCE_MS,
}: FailureLearnersOptions): (cluster: FailureCluster, state: LearningState) => boolean {
  const waited = createLruMap<string, true>(MOST_FAILURES);
  return (cluster, state) => {
    const unread = cluster.failures.filter(
      ({ turn, session }) => waited.get(turn) === undefined && isReadingDue(session, state),
    );
    for (const { turn } of unread) waited.set(turn, true);
    const now = clock.now();
    if (unread.length > 0) state.support.postpone(cluster, now, undefined, now + patienceMs);
    return unread.length > 0;
  };
}

/** Without a model: what people said becomes a lesson in their own words. */
type Distill = (cases: readonly FailureCase[]) => AnsweredPieces;

const createDistill = ({ distiller, clock }: FailureLearnersOptions): Distill =>
  async function* (cases) {
    if (cases.length === 0) return undefined;
    const id = cycleIdOf([distiller.name, cases.map(({ turn }) => turn).sort()]);
    const facts = (end: CycleEnd) => [{ at: clock.now(), fact: end }];
    return yield { id, learn: distiller, material: cases, cases, items: [], facts };
  };

/** What people state in two sessions becomes a lesson in their own words; what they said as a correction counts with it. */
function createRemarkMaterial(
  { evidence, compareQuotes }: FailureLearnersOptions,
  distill: Distill,
): LearnerRow['material'] {
  const repeated = createRepeatedRemarks(compareQuotes);
  return async function* (state) {
    for (const cluster of state.remarks.fresh()) {
      const corrected = state.support
        .waiting()
        .filter(({ scope }) => placeKey(scope) === cluster.key)
        .flatMap((waiting) => waiting.failures);
      const stated = await repeated.find([...cluster.remarks, ...corrected.slice(-MOST_CASES)], (turns) =>
        readCases(turns, evidence),
      );
      const end = yield* distill(await readCases(stated.slice(-MOST_CASES), evidence));
      if (end?.outcome !== 'aborted') state.remarks.looked(cluster);
    }
  };
}

interface EvolverDebts {
  /** Whether the evolver has not answered yet. */
  isAsked(turn: string): boolean;
  /** Failures of a place that wait for the evolver, besides those that are to be put to it now. */
  of(scope: Scope, besides: readonly FailureCase[], state: LearningState): Promise<readonly FailureCase[]>;
  /** Puts new failures to the evolver. Without a usable answer they are queued for it; one that comes late is used when it comes. */
  ask(cases: readonly FailureCase[], model: AskedModel, state: LearningState): AnsweredPieces;
  /** Puts queued failures to the evolver again, those of one place together. */
  again(state: LearningState): LearningPieces;
}

/** The turns that the evolver is being asked about, by the items of its queue. */
function createAwaitedAnswers() {
  const asked = new Map<string, ReadonlySet<string>>();
  return {
    isAsked: (turn: string): boolean => [...asked.values()].some((turns) => turns.has(turn)),
    awaitAnswer: (item: string, turns: ReadonlySet<string>, answered: Promise<void>): void => {
      asked.set(item, turns);
      void answered.finally(() => asked.delete(item));
    },
  };
}

/** Everything that the evolver is asked, and what it still owes. */
function createEvolverDebts(options: FailureLearnersOptions): EvolverDebts {
  const { evidence, library, evolver, writer, clock, patienceMs = PATIENCE_MS } = options;
  const { isAsked, awaitAnswer } = createAwaitedAnswers();
  const at = (fact: NewFact['fact']): NewFact => ({ at: clock.now(), fact });

  const stillOpen = (items: readonly AwaitedItem[], state: LearningState) =>
    openFailures(items, state, library);
  const isNotAsked = ({ failures }: AwaitedItem): boolean => !failures.some(({ turn }) => isAsked(turn));

  return {
    isAsked,
    of: async (scope, besides, state) => {
      const turns = new Set(besides.map(({ turn }) => turn));
      const items = state.evolver
        .items()
        .filter((item) => isNotAsked(item) && placeKey(item.failures[0]?.scope ?? {}) === placeKey(scope));
      const owed = stillOpen(items, state).filter(({ turn }) => !turns.has(turn));
      return readCases(owed.slice(-Math.max(0, MOST_CASES - turns.size)), evidence);
    },
    ask: async function* (cases, { ask, model }, state) {
      const turns = cases.map(({ turn }) => turn).sort();
      const id = cycleIdOf([EVOLVER, turns]);
      const item = `evolve:${cycleIdOf([EVOLVER, turns, model])}`;
      const covered = new Set(turns);
      const absorbed = state.evolver
        .items()
        .filter((one) => stillOpen([one], state).every(({ turn }) => covered.has(turn)) && isNotAsked(one));
      const items = [{ item, tries: 0 }, ...absorbed.filter((one) => one.item !== item)];
      const session = cases.at(-1)?.session ?? '';
      const queued: NewFact = {
        ...at({ type: 'learning-queued', item, learner: EVOLVER, session, turns, model }),
        key: item,
      };
      if (state.evolver.isModelPaused(clock.now())) {
        yield { journal: [queued] };
        return undefined;
      }
      const end = yield {
        id,
        learn: evolver,
        material: cases,
        cases,
        items: [],
        ask,
        // Durable before a lesson uses the failures up: else nobody would know that the evolver was not done with them.
        facts: (ended) => {
          const closed = closing(ended, items);
          return ended.outcome === 'aborted' ? [at(closed)] : [queued, at(closed)];
        },
        patience: {
          ms: patienceMs,
          meanwhile: [queued],
          onLate: (answered) => awaitAnswer(item, covered, answered),
        },
      };
      return end === undefined || isUnanswered(end) ? undefined : end;
    },
    again: async function* (state) {
      const due = state.evolver.due(clock.now()).filter(isNotAsked);
      for (const items of byPlace(due).slice(0, MOST_PLACES)) {
        const cases = await readCases(stillOpen(items, state), evidence);
        const ask = cases.length === 0 ? undefined : await writer.askForAll(cases);
        if (cases.length === 0)
          yield { journal: [at(closing(nothingLeft(items, library.generation), items))] };
        if (ask === undefined) continue;
        const end = yield {
          id: cycleIdOf([EVOLVER, cases.map(({ turn }) => turn).sort()]),
          material: cases,
          cases,
          items: [],
          ask,
          facts: (ended) => (ended.outcome === 'aborted' ? [] : [at(closing(ended, items))]),
        };
        if (end?.outcome === 'aborted') return;
      }
    },
  };
}

/** Failures of items that no other lesson of the evolver covers by now. */
function openFailures(
  items: readonly AwaitedItem[],
  state: LearningState,
  library: Pick<Library, 'lessons'>,
): readonly PlacedTurn[] {
  const open = new Set([
    ...state.support.waiting().flatMap(({ failures }) => failures.map(({ turn }) => turn)),
    ...quotedTurns(library),
  ]);
  const awaited = items.flatMap(({ failures }) => failures).filter(({ turn }) => open.has(turn));
  return [...new Map(awaited.map((one) => [one.turn, one])).values()].slice(-MOST_CASES);
}

/** What the end of a cycle means for the items that it was about. */
function closing(end: CycleEnd, items: readonly Pick<AwaitedItem, 'item' | 'tries'>[]): CycleEnd {
  if (end.outcome === 'aborted') return end;
  const isOpen = ({ tries }: { readonly tries: number }): boolean =>
    isUnanswered(end) && isAskedAgain(end, tries + 1);
  const tried = items.filter(isOpen).map(({ item }) => item);
  const done = items.filter((one) => !isOpen(one)).map(({ item }) => item);
  return { ...end, items: done, ...(tried.length === 0 ? {} : { tried }) };
}

/** Turns of lessons in the user's own words that are in use or wait for approval. */
const quotedTurns = (library: Pick<Library, 'lessons'>): readonly string[] =>
  library
    .lessons()
    .filter(
      ({ state, text, frozen }) =>
        !frozen && state !== 'retired' && state !== 'rejected' && text.evidence.learner === 'distiller',
    )
    .flatMap(({ text }) => text.evidence.turns);

/**
 * Items of one agent and project together: their failures may share a lesson. What the evolver was asked about least often comes first:
 * new evidence does not stand behind replies that cannot be used.
 */
function byPlace(items: readonly AwaitedItem[]): readonly (readonly AwaitedItem[])[] {
  const places = new Map<string, AwaitedItem[]>();
  for (const item of items.toSorted((a, b) => a.tries - b.tries)) {
    const key = placeKey(item.failures[0]?.scope ?? {});
    places.set(key, [...(places.get(key) ?? []), item]);
  }
  return [...places.values()];
}

/** Everything was learned from in another way, taken back or erased. */
const nothingLeft = (items: readonly AwaitedItem[], generation: number): CycleEnd => ({
  type: 'cycle-end',
  cycle: cycleIdOf(items.map(({ item }) => item)),
  learner: EVOLVER,
  outcome: 'nothing',
  items: [],
  turns: [],
  judgements: [],
  generation,
  cost: NO_COST,
  tookMs: 0,
  note: 'nothing of it waits any more',
});
