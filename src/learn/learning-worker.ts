import { existsSync } from 'node:fs';
import type { Budget } from '../core/budget.ts';
import { compact } from '../core/json.ts';
import { createPrices } from '../cost/prices.ts';
import { createEvidenceReader, type EvidenceReader } from '../evidence/evidence-reader.ts';
import { locateQuote } from '../evidence/turn-material.ts';
import { createVerifiers } from '../evidence/verifiers/registry.ts';
import { verifySession } from '../evidence/verify-session.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import { type LessonReplica, openLessonReplica } from '../lessons/lesson-replica.ts';
import { comparedText } from '../lessons/similar/compare.ts';
import { createFlowWatch } from './adapt/flow-events.ts';
import { createObserver } from './adapt/observer.ts';
import { type AskedModels, chatOfRole, createAskedModels } from './asked-models.ts';
import { createQuoteComparison } from './compare-words.ts';
import { createPromptWriter } from './compress/write-prompt.ts';
import { createGate, type Gate } from './gate/gate.ts';
import { openReflection } from './identity/reflect.ts';
import { openLearners } from './learners.ts';
import { startLearning } from './learning.ts';
import { createLearningBudget } from './learning-budget.ts';
import type { LearningPorts, LearningSettings, LearningWorker } from './learning-ports.ts';
import { createLearningState, type FactFold, type LearningState } from './learning-state.ts';
import { createRuleObserver } from './lesson-use/observe-rules.ts';
import { withMemory } from './memory/serve-memory.ts';
import { createReadQuotes } from './memory/working-memory.ts';
import { createNearestLessons, type NearestLessons } from './nearest-lessons.ts';
import { type OpenPractice, openPractice } from './practice/open-practice.ts';
import { withEarlierSessions } from './recollect/index-earlier.ts';
import { createIndexMessages } from './recollect/index-messages.ts';
import { createRunner, type WriteFacts } from './runner.ts';

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
  const runner = createRunner({ library, gate, clock, newId, log, signal });
  const isKilled = (): boolean =>
    settings.adapt?.killFile !== undefined && existsSync(settings.adapt.killFile);
  const isStopped = (): boolean => signal.aborted || isKilled() || !state.switch.isOn;
  const runRows = async (rows: typeof learners.evidence, write: WriteFacts): Promise<void> => {
    if (!isKilled()) await runner.run(rows, { state, write });
  };
  const memory = withMemory(practice, {
    library,
    effects,
    records,
    clock,
    embed: ports.embed,
    catchUp: lessons.catchUp,
    autonomy: settings.autonomy,
  });
  const reflection = await openReflection({ learners, runner, records, state, isStopped, clock });
  const indexMessages = createIndexMessages({
    records,
    evidence,
    ...compact({ model: ports.sentenceModel && { ...ports.sentenceModel, embed: ports.embed } }),
  });
  const verifiers = await createVerifiers(settings.verifiers, { ask: models.named('judge') });
  const learning = await startLearning({
    records,
    effects,
    evidence,
    state,
    budget,
    clock,
    log,
    lessonOf: library.lesson,
    observeRules: createRuleObserver({
      records,
      evidence,
      library,
      compareQuotes: createQuoteComparison(ports.embed),
      onWork: ports.onWork,
    }),
    reading: learners.reading,
    indexMessages,
    flows: createFlowWatch({ records, evidence }),
    observer: createObserver({ records, evidence, library, effects, log }),
    prices: createPrices(settings.prices),
    since: settings.since,
    isShared: ports.isShared,
    failures: settings.failures,
    watch: learners.limits,
    guard: (write) => runner.run([learners.limits], { state, write }),
    learn: (write) => runRows(learners.evidence, write),
    study: (write) => runRows(learners.models, write),
    settled: runner.settled,
    verify: async (session, wanted) =>
      settings.verifiers.length === 0
        ? []
        : verifySession({ session, wanted, verifiers, records, evidence, now: clock.now() }, signal),
    libraryChanged: (isErased) => (isErased ? lessons.reload() : lessons.catchUp()),
    reflection: reflection.last,
    onStatus: ports.onStatus,
  });
  return {
    wake: learning.wake,
    look: learning.look,
    settle: learning.settle,
    statements: createReadQuotes({ records, evidence, library, hasSecret, isStopped }),
    shorten: createPromptWriter({ ask: models.named('evolver'), hasSecret, newId }),
    practice: withEarlierSessions(reflection.withReflection(memory), { records, indexMessages, clock }),
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
    findSimilar: async (text, among) =>
      (await nearest(comparedText({ text }), 1, among)).map(({ lesson, cosine }) => ({
        id: lesson.id,
        cosine,
      })),
    embed,
    voteDay: (at) => new Date(at).toDateString(),
    locate: (turn, text) => locateQuote(turn, text, records),
  });
  const limits = settings.budget;
  const budget = await createLearningBudget({ limits, records, clock, newId, openBudget: ports.openBudget });
  const folds: FactFold[] = [ports.buffer];
  const state = createLearningState(folds);
  const models = createAskedModels(ports, budget, state);
  const parts = { evidence, lessons, folds, state, budget, models, nearest, gate };
  return { ...parts, practice: await openPracticeOf(settings, ports, parts) };
}

async function openPracticeOf(
  settings: LearningSettings,
  ports: LearningPorts,
  { evidence, lessons, state, nearest, gate }: Omit<LearningParts, 'practice'>,
): Promise<OpenPractice | undefined> {
  if (ports.practice === undefined || settings.practice === undefined) return undefined;
  return openPractice({
    config: settings.practice,
    ports: ports.practice,
    records: ports.records,
    evidence,
    lessons,
    gate,
    verifiers: settings.verifiers,
    nearest,
    embed: ports.embed,
    model: async (role) => {
      const model = await ports.model(role);
      return model && { ...model, chat: chatOfRole(role, ports.chat) };
    },
    decodeTurn: (turn) => ports.decoder()(turn),
    calibration: () => state.calibration,
    isOn: () => state.switch.isOn,
    mayPromote: settings.autonomy !== 'manual',
    clock: ports.clock,
    newId: ports.newId,
    log: ports.log,
  });
}
