import { hash } from 'node:crypto';
import { within } from '../base/within.ts';
import type { Clock } from '../core/clock.ts';
import type { Ask, FailureCase, Learner } from '../core/learn.ts';
import { NO_COST } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { NewFact } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import type { CycleEnd } from './cycle.ts';
import {
  type AwaitedFailure,
  type AwaitedItem,
  EVOLVER,
  isAskedAgain,
  isUnanswered,
} from './evolver-queue.ts';
import type { LearningState } from './learning-state.ts';
import { readCases } from './read-cases.ts';

/** Appends facts to the record, which are folded before the next round of learning. */
export type WriteFacts = (facts: readonly NewFact[]) => Promise<void>;

/** One run of a learner on failures. */
export type RunLearner = (
  id: string,
  learner: Learner<readonly FailureCase[]>,
  cases: readonly FailureCase[],
  ask: Ask | undefined,
  state: LearningState,
) => Promise<CycleEnd>;

export interface EvolveStepOptions {
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lessons' | 'generation'>;
  readonly evolver: Learner<readonly FailureCase[]>;
  readonly run: RunLearner;
  readonly clock: Clock;
  /** How long new failures wait for the evolver's answer before the lesson in the user's own words takes its place. */
  readonly patienceMs?: number;
}

export interface EvolveStep {
  /**
   * Puts new failures to the evolver. Undefined: there is no usable answer yet, and they are queued for it. An answer that comes
   * late is used when it comes. The end of the cycle is written in either case.
   */
  first(
    cases: readonly FailureCase[],
    ask: Ask,
    state: LearningState,
    write: WriteFacts,
  ): Promise<CycleEnd | undefined>;
  /** Failures of a place that wait for the evolver, besides those that are to be put to it now. */
  owedFor(
    scope: Scope,
    besides: readonly FailureCase[],
    state: LearningState,
  ): Promise<readonly FailureCase[]>;
  /** Puts queued failures to the evolver again, those of one place together. */
  again(
    askFor: (cases: readonly FailureCase[]) => Promise<Ask | undefined>,
    state: LearningState,
    write: WriteFacts,
  ): Promise<void>;
  /** Whether the evolver has not answered yet. */
  isAsked(turn: string): boolean;
  /** Resolves when no answer is outstanding. */
  settled(): Promise<void>;
}

const PATIENCE_MS = 10_000;
const MOST_CASES = 24;
const MOST_PLACES = 4;

/** An idempotency key: repeating the work after a kill publishes nothing twice. */
export const cycleIdOf = (material: unknown): string =>
  hash('sha256', JSON.stringify(material), 'hex').slice(0, 24);

/** Everything that asks the evolver. Nothing waits for it longer than its patience. */
export function createEvolveStep(options: EvolveStepOptions): EvolveStep {
  const { evidence, library, evolver, run, clock, patienceMs = PATIENCE_MS } = options;
  const asked = new Map<string, { readonly turns: ReadonlySet<string>; readonly ended: Promise<void> }>();
  const isAsked = (turn: string): boolean => [...asked.values()].some(({ turns }) => turns.has(turn));
  const at = <Fact extends NewFact['fact']>(fact: Fact): NewFact => ({ at: clock.now(), fact });

  /** What the end of a cycle means for the items that it was about. */
  const closing = (end: CycleEnd, items: readonly Pick<AwaitedItem, 'item' | 'tries'>[]): CycleEnd => {
    if (end.outcome === 'aborted') return end;
    const isKept = ({ tries }: { readonly tries: number }): boolean =>
      isUnanswered(end) && isAskedAgain(end, tries + 1);
    const tried = items.filter(isKept).map(({ item }) => item);
    const done = items.filter((one) => !isKept(one)).map(({ item }) => item);
    return { ...end, items: done, ...(tried.length === 0 ? {} : { tried }) };
  };

  /** Failures of items that no other lesson of the evolver covers by now. */
  const stillOpen = (items: readonly AwaitedItem[], state: LearningState): readonly AwaitedFailure[] => {
    const open = new Set([
      ...state.support.waiting().flatMap(({ failures }) => failures.map(({ turn }) => turn)),
      ...quotedTurns(library),
    ]);
    const awaited = items.flatMap(({ failures }) => failures).filter(({ turn }) => open.has(turn));
    return [...new Map(awaited.map((one) => [one.turn, one])).values()].slice(-MOST_CASES);
  };
  const notAsked = ({ failures }: AwaitedItem): boolean => !failures.some(({ turn }) => isAsked(turn));

  return {
    isAsked,
    owedFor: async (scope, besides, state) => {
      const known = new Set(besides.map(({ turn }) => turn));
      const items = state.evolver
        .items()
        .filter((item) => notAsked(item) && placeOf(item.failures[0]?.scope) === placeOf(scope));
      const owed = stillOpen(items, state).filter(({ turn }) => !known.has(turn));
      return readCases(owed.slice(-Math.max(0, MOST_CASES - known.size)), evidence);
    },
    settled: async () => {
      while (asked.size > 0) await Promise.all([...asked.values()].map(({ ended }) => ended));
    },
    first: async (cases, ask, state, write) => {
      const turns = cases.map(({ turn }) => turn).sort();
      const id = cycleIdOf([EVOLVER, turns]);
      const item = `evolve:${id}`;
      const covered = new Set(turns);
      const absorbed = state.evolver
        .items()
        .filter((one) => stillOpen([one], state).every(({ turn }) => covered.has(turn)) && notAsked(one));
      const items = [{ item, tries: 0 }, ...absorbed.filter((one) => one.item !== item)];
      const session = cases.at(-1)?.session ?? '';
      const queued = at({ type: 'learning-queued', item, learner: EVOLVER, session, turns });
      if (state.evolver.isModelPaused(clock.now())) {
        await write([{ ...queued, key: item }]);
        return undefined;
      }
      const ended = run(id, evolver, cases, ask, state).then((end) => closing(end, items));
      const end = await within(ended, patienceMs);
      if (end !== undefined) {
        // Durable before a lesson uses the failures up: else nobody would know that the evolver was not done with them.
        await write(end.tried?.includes(item) === true ? [{ ...queued, key: item }, at(end)] : [at(end)]);
        return isUnanswered(end) ? undefined : end;
      }
      await write([{ ...queued, key: item }]);
      const late = ended
        .then((answer) => write([at(answer)]))
        .catch(() => undefined)
        .finally(() => asked.delete(item));
      asked.set(item, { turns: covered, ended: late });
      return undefined;
    },
    again: async (askFor, state, write) => {
      // What it was asked about least often comes first: new evidence does not stand behind replies that cannot be used.
      const due = state.evolver
        .due(clock.now())
        .filter(notAsked)
        .sort((a, b) => a.tries - b.tries);
      for (const items of byPlace(due).slice(0, MOST_PLACES)) {
        const cases = await readCases(stillOpen(items, state), evidence);
        const ask = cases.length === 0 ? undefined : await askFor(cases);
        if (cases.length > 0 && ask === undefined) continue;
        const end =
          ask === undefined
            ? nothingLeft(items, library.generation)
            : await run(
                cycleIdOf([EVOLVER, cases.map(({ turn }) => turn).sort()]),
                evolver,
                cases,
                ask,
                state,
              );
        const closed = closing(end, items);
        if (closed.outcome === 'aborted') return;
        await write([at(closed)]);
      }
    },
  };
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

const placeOf = ({ agent = '', project = '', member = '' }: Scope = {}): string =>
  JSON.stringify([agent, project, member]);

/** Items of one agent and project together: their failures may share a lesson. */
function byPlace(items: readonly AwaitedItem[]): readonly (readonly AwaitedItem[])[] {
  const places = new Map<string, AwaitedItem[]>();
  for (const item of items) {
    const key = placeOf(item.failures[0]?.scope);
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
