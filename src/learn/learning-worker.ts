import { existsSync } from 'node:fs';
import type { Budget } from '../core/budget.ts';
import { createPrices } from '../cost/prices.ts';
import { createEvidenceReader, type EvidenceReader } from '../evidence/evidence-reader.ts';
import { locateQuote } from '../evidence/turn-material.ts';
import { createVerifiers } from '../evidence/verifiers/registry.ts';
import { verifySession } from '../evidence/verify-session.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import { type LessonReplica, openLessonReplica } from '../lessons/lesson-replica.ts';
import { type AskedModels, createAskedModels, createRoleModels } from './asked-models.ts';
import { createPromptWriter } from './compress/write-prompt.ts';
import { createGate, type Gate } from './gate/gate.ts';
import { openReflection } from './identity/reflect.ts';
import { openLearners } from './learners.ts';
import { startLearning } from './learning.ts';
import { createLearningBudget } from './learning-budget.ts';
import type { LearningPorts, LearningSettings, LearningWorker } from './learning-ports.ts';
import { createLearningState, type FactFold, type LearningState } from './learning-state.ts';
import { withMemory } from './memory/serve-memory.ts';
import { createReadQuotes } from './memory/working-memory.ts';
import { createFindSimilar, createNearestLessons, type NearestLessons } from './nearest-lessons.ts';
import { type OpenPractice, openPractice } from './practice/open-practice.ts';
import { withEarlierSessions } from './recollect/index-earlier.ts';
import { createRunner } from './runner.ts';

/** Everything that learns, without its thread. Rejects when the record cannot be read. */
export async function startLearningWorker(
  settings: LearningSettings,
  ports: LearningPorts,
): Promise<LearningWorker> {
  const { records, hasSecret, clock, newId, log } = ports;
  const stop = new AbortController();
  const { signal } = stop;
  const parts = await openLearningParts(settings, ports);
  const { evidence, lessons, state, models, nearest, gate, practice, budget } = parts;
  const { library, effects } = lessons;
  const tasks = async () => (await practice?.requests()) ?? [];
  const learners = await openLearners({ settings, ports, evidence, lessons, models, nearest, tasks, signal });
  parts.folds.push(...learners.folds, ...(practice?.folds ?? []));
  const isKilled = (): boolean => settings.killFile !== undefined && existsSync(settings.killFile);
  const runner = createRunner({ library, gate, clock, newId, log, signal, isKilled });
  const isStopped = (): boolean => signal.aborted || isKilled() || !state.switch.isOn;
  const memory = withMemory(practice, {
    ...lessons,
    records,
    clock,
    embed: ports.embed,
    autonomy: settings.autonomy,
  });
  const reflection = await openReflection({ learners, runner, records, state, isStopped, clock });
  const verifiers = await createVerifiers(settings.verifiers, { ask: models.named('judge') });
  const learning = await startLearning({
    ...ports,
    effects,
    evidence,
    state,
    takeChanges: lessons.takeFirstRead,
    budget,
    lessonOf: library.lesson,
    ...learners.watchers,
    prices: createPrices(settings.prices),
    since: settings.since,
    failures: settings.failures,
    guard: (write) => runner.run([learners.limits], { state, write }),
    learn: (write) => runner.run(learners.evidence, { state, write }),
    study: (write) => runner.run(learners.models, { state, write }),
    settled: runner.settled,
    verify: async (session, wanted) =>
      settings.verifiers.length === 0
        ? []
        : verifySession({ session, wanted, verifiers, records, evidence, now: clock.now() }, signal),
    libraryChanged: (isErased) => (isErased ? lessons.reload() : lessons.catchUp()),
    reflection: reflection.last,
  });
  return {
    wake: learning.wake,
    look: learning.look,
    settle: learning.settle,
    statements: createReadQuotes({ records, evidence, library, hasSecret, isStopped }),
    shorten: createPromptWriter({ ask: models.named('evolver'), hasSecret, newId }),
    practice: withEarlierSessions(reflection.withReflection(memory), {
      records,
      clock,
      ...learners.watchers,
    }),
    close: async () => {
      stop.abort();
      await memory.close();
      await learning.close();
    },
  };
}

interface LearningParts {
  readonly evidence: EvidenceReader;
  readonly lessons: LessonReplica;
  /** Folded with the state; more are added before the record is read. */
  readonly folds: FactFold[];
  readonly state: LearningState;
  readonly budget: Budget;
  readonly models: AskedModels;
  readonly nearest: NearestLessons;
  readonly gate: Gate;
  /** Absent: nothing is practised. */
  readonly practice: OpenPractice | undefined;
}

/** What learners and practice share. */
async function openLearningParts(settings: LearningSettings, ports: LearningPorts): Promise<LearningParts> {
  const { records, clock, newId, log, embed, embedKept = embed } = ports;
  const evidence = createEvidenceReader({ ...records, decoder: ports.decoder });
  const onFault = (error: unknown) => log.error({ err: error }, 'a listener for library changes failed');
  const lessons = await openLessonReplica({ records, publish: ports.publish, clock, newId, onFault });
  const nearest = createNearestLessons({ embed: embedKept }, lessons.library);
  const gate = createGate({
    autonomy: settings.autonomy,
    checkText: checkLessonText,
    hasSecret: ports.hasSecret,
    findSimilar: createFindSimilar(nearest, 1),
    embed,
    voteDay: (at) => new Date(at).toDateString(),
    locate: (turn, text) => locateQuote(turn, text, records),
  });
  const budget = await createLearningBudget({ ...ports, limits: settings.budget });
  const folds: FactFold[] = [ports.buffer];
  const state = createLearningState(folds);
  const models = createAskedModels(ports, budget, state);
  const practice =
    ports.practice &&
    settings.practice &&
    (await openPractice({
      ...ports,
      ports: ports.practice,
      config: settings.practice,
      verifiers: settings.verifiers,
      mayPromote: settings.autonomy !== 'manual',
      evidence,
      lessons,
      gate,
      nearest,
      model: createRoleModels(ports),
      decodeTurn: (turn) => ports.decoder()(turn),
      calibration: () => state.calibration,
      isOn: () => state.switch.isOn,
    }));
  return { evidence, lessons, folds, state, budget, models, nearest, gate, practice };
}
