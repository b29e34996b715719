import { hash } from 'node:crypto';
import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { Ask, FailureCase, Learner } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import type { NewFact, Records } from '../core/store.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import { createFailureCase } from '../evidence/failure-case.ts';
import { joinMaterial } from '../evidence/turn-material.ts';
import { retireHarmful } from '../lessons/effect/retire-harmful.ts';
import type { LessonReplica } from '../lessons/lesson-replica.ts';
import { type Cycle, type CycleEnd, runCycle } from './cycle.ts';
import { type FailureCluster, saidForLater } from './failure-clusters.ts';
import type { Gate } from './gate/gate.ts';
import { servedBy } from './learning-model.ts';
import type { LearningState, QueuedItem } from './learning-state.ts';
import { lastTryOf, nextMidnight } from './learning-waits.ts';
import { type LiveMaterial, shownCases } from './live/live-material.ts';
import { createLiveMaterial } from './live/session-material.ts';

export interface LearnStepOptions {
  readonly records: Pick<Records, 'session' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly lessons: Pick<LessonReplica, 'library' | 'effects'>;
  /** The number of failures in one scope that starts the evolver. */
  readonly failures: number;
  /** Looked up for each run: a model may become available later. */
  readonly writer: () => Promise<AskedModel | undefined>;
  /** The evolver needs a model, the distiller does not. */
  readonly evolver: Learner<readonly FailureCase[]>;
  readonly distiller: Learner<readonly FailureCase[]>;
  readonly live: Learner<LiveMaterial>;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A model and the way to ask it. */
export interface AskedModel {
  readonly ask: Ask;
  /** It may be shown only sessions that this provider alone has served; see `LearningModel`. */
  readonly onlyFor?: string;
}

const INSTAR = { kind: 'instar', name: 'measurement' } as const;
/** The newest failures of a cluster that one run uses. */
const MOST_CASES = 24;
const MOST_ITEMS = 4;

/** An idempotency key: repeating the work after a kill publishes nothing twice. */
const nameOf = (material: unknown): string => hash('sha256', JSON.stringify(material), 'hex').slice(0, 24);

/** One round of learning: runs what is ready and retires lessons that were measured to harm. Returns the facts to append. */
export function createLearnStep(
  options: LearnStepOptions,
): (state: LearningState) => Promise<readonly NewFact[]> {
  const { records, failures, gate, clock, newId, log, signal } = options;
  const { library, effects } = options.lessons;

  const casesOf = async ({ scope, failures: waiting }: FailureCluster): Promise<readonly FailureCase[]> => {
    const newest = waiting.slice(-MOST_CASES);
    const cases: FailureCase[] = [];
    for (const session of new Set(newest.map((failure) => failure.session))) {
      const wanted = new Map(newest.map((failure) => [failure.turn, failure]));
      const turns = await options.evidence.turns(session);
      const latest = turns.findLast(({ material }) => material !== undefined)?.material;
      for (const turn of turns) {
        const at = wanted.get(turn.evidence.turn)?.at;
        if (at === undefined) continue;
        const generation = Math.max(0, turn.generation);
        const material = joinMaterial(turn.material, latest);
        cases.push(createFailureCase(turn.evidence, { ...turn, at, generation, scope, material }));
      }
    }
    return cases;
  };

  /** Whether the model may be shown a session: its words go to no provider that nobody named for learning. */
  const maySee = async ({ onlyFor }: AskedModel, session: string): Promise<boolean> => {
    if (onlyFor === undefined) return true;
    const turns = await records.turns(session);
    return turns.length > 0 && turns.every(({ policy }) => servedBy(policy) === onlyFor);
  };

  const evolve = async (cluster: FailureCluster, state: LearningState): Promise<readonly CycleEnd[]> => {
    const found = await casesOf(cluster);
    const writer = await options.writer();
    const cases = cluster.isEarly ? saidForLater(found, writer !== undefined) : found;
    const seen = new Set<string>();
    for (const session of new Set(cases.map(({ session: id }) => id)))
      if (writer !== undefined && (await maySee(writer, session))) seen.add(session);
    const shown = cases.filter(({ session }) => seen.has(session));
    const isEnough = shown.length >= Math.min(failures, cases.length);
    const unseen = isEnough ? cases.filter(({ session }) => !seen.has(session)) : cases;
    if (cluster.isEarly && cases.length === 0) return [];
    return [
      ...(isEnough ? await runOn(shown, options.evolver, writer?.ask, state) : []),
      // What the model may not see is learned from without one.
      ...(await runOn(unseen, options.distiller, undefined, state)),
    ];
  };

  const runOn = async (
    cases: readonly FailureCase[],
    learner: Learner<readonly FailureCase[]>,
    ask: Ask | undefined,
    state: LearningState,
  ): Promise<readonly CycleEnd[]> => {
    if (cases.length === 0) return [];
    const turns = cases.map(({ turn }) => turn).sort();
    const id = nameOf([learner.name, turns]);
    const { isRetryable: _, ...end } = await run(
      { id, learner, material: cases, cases, items: [] },
      ask,
      state,
    );
    return [end];
  };

  const run = async <Material>(cycle: Cycle<Material>, ask: Ask | undefined, state: LearningState) => {
    const { id, learner } = cycle;
    const end = await runCycle(cycle, {
      library,
      ask,
      gate: (proposal, all) => gate(proposal, all, library),
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

  /** Learns from an ended session. Undefined while the model is unavailable: the item stays queued. */
  const learnLive = async (
    { item, session }: QueuedItem,
    state: LearningState,
  ): Promise<CycleEnd | undefined> => {
    const view = await records.session(session);
    const scope: Scope = compact({ agent: view?.agent, project: view?.project?.id });
    const turns = await options.evidence.turns(session);
    const material = createLiveMaterial(session, scope, turns, clock.now());
    const cycle = { id: nameOf([item]), learner: options.live, material, items: [item] };
    const writer = await options.writer();
    const ask = writer !== undefined && (await maySee(writer, session)) ? writer.ask : undefined;
    const { isRetryable, ...end } = await run({ ...cycle, cases: shownCases(material) }, ask, state);
    if (!isRetryable) return end;
    if (end.outcome !== 'aborted')
      state.queuePauses.postpone(item, clock.now(), lastTryOf(end), nextMidnight(clock.now()));
    return undefined;
  };

  return async (state) => {
    const facts: NewFact[] = [];
    const isStopped = (): boolean => signal.aborted || !state.switch.isOn;
    if (isStopped()) return facts;
    for (const cluster of state.support.ready(failures, clock.now())) {
      if (isStopped()) break;
      const ends = await evolve(cluster, state);
      // A new run would give the same result until there is a new failure or some time has passed; at midnight there is a
      // new budget. The first run is the model's, where there is one: what stopped it is the reason to wait.
      if (ends.every(({ outcome }) => outcome !== 'aborted'))
        state.support.postpone(
          cluster.key,
          clock.now(),
          cluster.isEarly && ends.length === 0 ? undefined : lastTryOf(ends[0]),
          nextMidnight(clock.now()),
        );
      facts.push(...ends.map((fact) => ({ at: clock.now(), fact })));
    }
    const isDue = ({ item }: QueuedItem): boolean => state.queuePauses.isOver(item, clock.now());
    for (const item of [...state.queue.values()].filter(isDue).slice(0, MOST_ITEMS)) {
      if (isStopped()) break;
      const end = await learnLive(item, state);
      if (end !== undefined) facts.push({ at: clock.now(), fact: end });
    }
    if (isStopped()) return facts;
    const harmful = retireHarmful({ effects, library, by: INSTAR });
    if (harmful !== undefined) await library.publish(harmful);
    return facts;
  };
}
