import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { Ask, FailureCase, Learner } from '../core/learn.ts';
import type { Records } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import { retireHarmful } from '../lessons/effect/retire-harmful.ts';
import type { LessonReplica } from '../lessons/lesson-replica.ts';
import { type Cycle, type CycleEnd, runCycle } from './cycle.ts';
import type { CompareQuotes } from './distiller/same-rule.ts';
import { wordsAbout } from './draft-lesson.ts';
import { createEvolveStep, cycleIdOf, type RunLearner, type WriteFacts } from './evolve-step.ts';
import { type FailureCluster, saidForLater } from './failure-clusters.ts';
import type { Gate } from './gate/gate.ts';
import { servedBy } from './learning-model.ts';
import type { LearningState } from './learning-state.ts';
import type { LessonUseMaterial } from './lesson-use/reviser.ts';
import { createUseStep } from './lesson-use/use-step.ts';
import type { LiveMaterial } from './live/live-material.ts';
import { createLiveStep } from './live-step.ts';
import { createNoteStep } from './memory/note-step.ts';
import type { NoteMaterial } from './memory/write/write-notes.ts';
import { readCases } from './read-cases.ts';
import { createRepeatedRemarks, remarkPlace } from './remarks.ts';
import { lastTryOf, nextMidnight } from './try-result.ts';

export interface LearnStepOptions {
  readonly records: Pick<Records, 'session' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly lessons: Pick<LessonReplica, 'library' | 'effects'>;
  /** The number of failures in one scope that starts a learner. */
  readonly failures: number;
  /** Looked up for each run: a model may become available later. */
  readonly writer: () => Promise<AskedModel | undefined>;
  /** The evolver needs a model, the distiller does not. */
  readonly evolver: Learner<readonly FailureCase[]>;
  readonly distiller: Learner<readonly FailureCase[]>;
  readonly live: Learner<LiveMaterial>;
  /** Keeps what people state. */
  readonly notes: Learner<NoteMaterial>;
  /** Words lessons anew that were shown and did not help. */
  readonly reviser: Learner<LessonUseMaterial>;
  /** Tells whether people said the same in other words. */
  readonly compareQuotes: CompareQuotes;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** How long new failures wait for the evolver's answer. */
  readonly patienceMs?: number;
}

/** A model and the way to ask it. */
export interface AskedModel {
  readonly ask: Ask;
  /** It may be shown only sessions that this provider alone has served; see `LearningModel`. */
  readonly onlyFor?: string;
}

export interface LearnStep {
  /** Learns from what is new, and retires lessons that were measured to harm. It waits for a model only as long as its patience. */
  learn(state: LearningState, write: WriteFacts): Promise<void>;
  /** The work that waits for models: what the evolver still owes, and sessions that have ended. */
  study(state: LearningState, write: WriteFacts): Promise<void>;
  /** Resolves when no model's answer is outstanding. */
  settled(): Promise<void>;
}

const INSTAR = { kind: 'instar', name: 'measurement' } as const;
/** The newest failures of a cluster that one run uses. */
const MOST_CASES = 24;

/**
 * One round of learning. New evidence never waits for a model: where the evolver has no usable answer, the lesson in the user's
 * own words takes its place at once, and the evolver revises it later.
 */
export function createLearnStep(options: LearnStepOptions): LearnStep {
  const { records, evidence, failures, gate, clock, newId, log, signal } = options;
  const { library, effects } = options.lessons;
  const isStopped = (state: LearningState): boolean => signal.aborted || !state.switch.isOn;

  const run = async <Material>(
    cycle: Cycle<Material>,
    ask: Ask | undefined,
    state: LearningState,
  ): Promise<CycleEnd & { readonly isRetryable: boolean }> => {
    const { id, learner } = cycle;
    const end = await runCycle(cycle, {
      library,
      ask,
      gate,
      clock,
      newId,
      journal: (note) => log.debug({ learner: learner.name, cycle: id }, note),
      signal: AbortSignal.any([signal, state.running.signal]),
    });
    log.info(
      { learner: end.learner, outcome: end.outcome, judgements: end.judgements, tookMs: end.tookMs },
      'learning cycle ended',
    );
    return end;
  };
  const runOn: RunLearner = async (id, learner, cases, ask, state) => {
    const { isRetryable: _, ...end } = await run(
      { id, learner, material: cases, cases, items: [] },
      ask,
      state,
    );
    return end;
  };
  const evolve = createEvolveStep({ ...options, library, run: runOn });

  /** Whether the model may be shown a session: its words go to no provider that nobody named for learning. */
  const maySee = async ({ onlyFor }: AskedModel, session: string): Promise<boolean> => {
    if (onlyFor === undefined) return true;
    const turns = await records.turns(session);
    return turns.length > 0 && turns.every(({ policy }) => servedBy(policy) === onlyFor);
  };
  const seenBy = async (
    writer: AskedModel | undefined,
    cases: readonly FailureCase[],
  ): Promise<readonly FailureCase[]> => {
    const seen = new Set<string>();
    for (const session of new Set(cases.map(({ session: id }) => id)))
      if (writer !== undefined && (await maySee(writer, session))) seen.add(session);
    return cases.filter(({ session }) => seen.has(session));
  };
  const askAbout = async (session: string): Promise<Ask | undefined> => {
    const writer = await options.writer();
    return writer !== undefined && (await maySee(writer, session)) ? writer.ask : undefined;
  };

  /** Without a model: what people said becomes a lesson in their own words. */
  const distill = async (
    cases: readonly FailureCase[],
    state: LearningState,
    write: WriteFacts,
  ): Promise<CycleEnd | undefined> => {
    if (cases.length === 0) return undefined;
    const { distiller } = options;
    const end = await runOn(
      cycleIdOf([distiller.name, cases.map(({ turn }) => turn).sort()]),
      distiller,
      cases,
      undefined,
      state,
    );
    await write([{ at: clock.now(), fact: end }]);
    return end;
  };

  const learnFrom = async (
    cluster: FailureCluster,
    state: LearningState,
    write: WriteFacts,
  ): Promise<void> => {
    const found = await readCases(cluster.failures.slice(-MOST_CASES), evidence);
    const writer = await options.writer();
    const cases = cluster.isEarly ? saidForLater(found, writer !== undefined) : found;
    const seen = await seenBy(writer, cases);
    const isEnough =
      writer !== undefined && seen.length > 0 && seen.length >= Math.min(failures, cases.length);
    const shown = isEnough ? seen : [];
    // What the evolver still owes for the same place is put to it together with what is new: one lesson may serve all of it.
    const owed =
      shown.length === 0 ? [] : await seenBy(writer, await evolve.owedFor(cluster.scope, shown, state));
    const answer =
      writer === undefined || shown.length === 0
        ? undefined
        : await evolve.first([...owed, ...shown], writer.ask, state, write);
    // What the model may not see, and what it has no usable answer to, is learned from without one.
    const used = new Set(answer?.turns);
    const isLeft = (one: FailureCase): boolean =>
      !shown.includes(one) ||
      answer === undefined ||
      (answer.outcome !== 'aborted' && !used.has(one.turn) && wordsAbout(one).length > 0);
    const end = isStopped(state) ? undefined : await distill(cases.filter(isLeft), state, write);
    if (answer?.outcome === 'aborted' || end?.outcome === 'aborted') return;
    // A new run would give the same result until there is a new failure or some time has passed; at midnight there is a new
    // budget. What stopped the model is the reason to wait.
    state.support.postpone(cluster, clock.now(), lastTryOf(answer ?? end), nextMidnight(clock.now()));
  };

  const repeated = createRepeatedRemarks(options.compareQuotes);
  /** What people state in two sessions becomes a lesson in their own words; what they said as a correction counts with it. */
  const learnFromRemarks = async (state: LearningState, write: WriteFacts): Promise<void> => {
    for (const cluster of state.remarks.fresh()) {
      const { key, remarks } = cluster;
      if (isStopped(state)) return;
      const corrected = state.support
        .waiting()
        .filter(({ scope }) => remarkPlace(scope) === key)
        .flatMap((cluster) => cluster.failures);
      const found = await repeated.find([...remarks, ...corrected.slice(-MOST_CASES)], (turns) =>
        readCases(turns, evidence),
      );
      const end = await distill(await readCases(found.slice(-MOST_CASES), evidence), state, write);
      if (end?.outcome !== 'aborted') state.remarks.looked(cluster);
    }
  };

  const live = createLiveStep({ ...options, run, askFor: askAbout });
  const takeNotes = createNoteStep({ ...options, writer: options.notes, run });
  const askForAll = async (cases: readonly FailureCase[]): Promise<Ask | undefined> => {
    const writer = await options.writer();
    return (await seenBy(writer, cases)).length === cases.length ? writer?.ask : undefined;
  };
  const use = createUseStep({
    ...options,
    library,
    run,
    askFor: askForAll,
    hasModel: async () => (await options.writer()) !== undefined,
  });

  return {
    learn: async (state, write) => {
      if (isStopped(state)) return;
      // Without a model the same learner reads both: what was stated before counts with the correction that says it again.
      const hasRemarks = state.remarks.fresh().length > 0;
      if (hasRemarks && (await options.writer()) === undefined) await learnFromRemarks(state, write);
      for (const cluster of state.support.ready(failures, clock.now())) {
        if (isStopped(state)) return;
        // The evolver is asked about the others again when their pause is over.
        if (cluster.failures.some(({ turn }) => !state.evolver.has(turn) && !evolve.isAsked(turn)))
          await learnFrom(cluster, state, write);
      }
      await learnFromRemarks(state, write);
      await takeNotes(state, write, () => isStopped(state));
      if (isStopped(state)) return;
      await use.look(state, write);
      const harmful = retireHarmful({ effects, library, by: INSTAR });
      if (harmful !== undefined) await library.publish(harmful);
    },
    study: async (state, write) => {
      if (isStopped(state)) return;
      await evolve.again(askForAll, state, write);
      await use.study(state, write, () => isStopped(state));
      await live(state, write, () => isStopped(state));
    },
    settled: evolve.settled,
  };
}
