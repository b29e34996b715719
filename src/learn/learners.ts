import { compact } from '../core/json.ts';
import type { PracticeTask } from '../core/practice.ts';
import { scopeOfEvidence } from '../evidence/appraise-session.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import type { LessonReplica } from '../lessons/lesson-replica.ts';
import { ADAPTATION, openAdaptation } from './adapt/adaptation.ts';
import { createFlowWatch } from './adapt/flow-events.ts';
import { createLimitWatch } from './adapt/limit-watch.ts';
import { createObserver } from './adapt/observer.ts';
import type { AskedModels } from './asked-models.ts';
import { createCheckRows } from './checks/learn-checks.ts';
import { createSlowCheckRow } from './checks/slow-checks.ts';
import { type CompareQuotes, createQuoteComparison } from './compare-words.ts';
import { decidedLearner } from './cycle.ts';
import { createDistiller } from './distiller/distiller.ts';
import { createEvolver } from './evolver/evolver.ts';
import { createFailureLearners } from './failure-learners.ts';
import { createMannerTurns, type MannerTurns } from './identity/manner-turns.ts';
import { createJudgeTurns } from './judge-turns.ts';
import type { LearningWatchers } from './learning.ts';
import type { LearningPorts, LearningSettings } from './learning-ports.ts';
import type { FactFold } from './learning-state.ts';
import { createReviserRow, createUseRow } from './lesson-use/lesson-use.ts';
import { createRuleObserver } from './lesson-use/observe-rules.ts';
import { createReviser } from './lesson-use/reviser.ts';
import { createExtractor } from './live/extractor.ts';
import { shownCases } from './live/live-material.ts';
import { createLiveMaterial } from './live/session-material.ts';
import { createReturnToldRow } from './memory/return-told.ts';
import { openSessionNotes } from './memory/session-notes.ts';
import { createWakingRow } from './memory/wake-archived.ts';
import { MOST_OF_SESSION } from './memory/working-memory.ts';
import { createNoteWriter } from './memory/write/write-notes.ts';
import { createFindSimilar, type NearestLessons } from './nearest-lessons.ts';
import { createQueuedRow } from './queued-items.ts';
import { createWordReading, isReadingDue } from './read-words.ts';
import { createIndexMessages } from './recollect/index-messages.ts';
import type { LearnerRow } from './runner.ts';
import { createOptOutRow, createTeamRow } from './team/move-to-team.ts';
import { createTrialRow } from './trial/decide-trials.ts';

interface LearnersOptions {
  readonly settings: LearningSettings;
  readonly ports: LearningPorts;
  readonly evidence: EvidenceReader;
  readonly lessons: Pick<LessonReplica, 'library' | 'effects'>;
  readonly models: AskedModels;
  readonly nearest: NearestLessons;
  /** What users ask of agents. */
  readonly tasks: () => Promise<readonly PracticeTask[]>;
  readonly signal: AbortSignal;
}

/** The table of learners: every list in the order in which its rows run. */
export interface Learners {
  /** With every look at the record, also while learning is off. It counts turns as they come, after a restart anew. */
  readonly limits: LearnerRow & FactFold;
  /** What is new. None of them waits for a model longer than its patience. */
  readonly evidence: readonly LearnerRow[];
  /** The work that waits for models: new evidence does not wait for it. */
  readonly models: readonly LearnerRow[];
  /** Once a day, in quiet hours: who an agent is. */
  readonly manner: MannerTurns;
  /** What looks at turns and sessions as they are followed. */
  readonly watchers: LearningWatchers & Required<Pick<LearningWatchers, 'indexMessages'>>;
  /** What the rows follow in the record. */
  readonly folds: readonly FactFold[];
}

/** Lessons that a learner is shown beside its evidence. */
const MOST_NEAR = 5;
/** Ended sessions that are put to a model in one round: new failures are not kept waiting behind them. */
const MOST_SESSIONS = 4;

/** Rejects when the record cannot be read. */
export async function openLearners(options: LearnersOptions): Promise<Learners> {
  const { settings, evidence, models, tasks, signal } = options;
  const { records, embed, hasSecret, clock, newId, log } = options.ports;
  const { library, effects } = options.lessons;
  const { autonomy } = settings;
  const { writer } = models;
  const checkText = checkLessonText;
  const compareQuotes = createQuoteComparison(embed);
  const distiller = createDistiller({ maxNewSkills: settings.maxNewSkills, checkText, compareQuotes });
  const fromFailures = openFailureLearners(options, distiller, compareQuotes);
  const use = { records, evidence, library, reviser: createReviser({ checkText }), writer, clock };
  const adaptation = await openAdaptation({
    records,
    library,
    rules: { autonomy, checkText, hasSecret },
    clock,
    journal: (note) => log.debug({ from: ADAPTATION }, note),
  });
  const limits = createLimitWatch(library);
  const waking = createWakingRow({ library, evidence, embed });
  const checks = createCheckRows({ library, evidence, records, writer, hasSecret, clock });
  const slow = createSlowCheckRow({
    library,
    evidence,
    records,
    // The judge that the owner named, if it passes its test; else the model that writes lessons.
    askAbout: async (session) =>
      (await models.of('judge')) === undefined ? writer.askAbout(session) : models.named('judge'),
    sandbox: options.ports.openSandbox,
    clock,
    newId,
    signal,
  });
  const manner = createMannerTurns({ records, evidence, library, clock });
  const words = createWordReading({ evidence, writer, library, clock, log, signal });
  const moving = { library, effects, records, autonomy, checkText, clock, newId };
  return {
    limits,
    evidence: [
      createReturnToldRow(library),
      ...fromFailures.evidence,
      createNotesRow(options),
      checks.words,
      createUseRow(use),
      createTrialRow({
        lessons: options.lessons,
        records,
        tasks,
        lessonsFor: options.ports.practice?.lessonsFor,
        mayPromote: autonomy !== 'manual',
        clock,
      }),
      adaptation,
      ...(autonomy === 'manual' ? [] : [waking]),
    ],
    models: [
      // What it reads is evidence for the others.
      words.row,
      fromFailures.again,
      checks.models,
      slow.row,
      createReviserRow(use),
      createLiveRow(options),
      createOptOutRow(moving),
      createTeamRow({ ...moving, compareQuotes }),
      createJudgeRow(options, signal),
    ],
    manner,
    watchers: createWatchers(options, { compareQuotes, reading: words.queue, watch: limits }),
    folds: [adaptation, manner, waking, checks.fold, slow.fold],
  };
}

function openFailureLearners(
  { settings, evidence, models, lessons, nearest, ports }: LearnersOptions,
  distiller: ReturnType<typeof createDistiller>,
  compareQuotes: CompareQuotes,
): ReturnType<typeof createFailureLearners> {
  const evolver = createEvolver({
    maxNewSkills: settings.maxNewSkills,
    nearest: async (text) => (await nearest(text, MOST_NEAR)).map(({ lesson }) => lesson),
    checkText: checkLessonText,
    quoting: distiller,
  });
  return createFailureLearners({
    evidence,
    library: lessons.library,
    failures: settings.failures,
    writer: models.writer,
    evolver,
    distiller,
    compareQuotes,
    clock: ports.clock,
    patienceMs: settings.patienceMs,
  });
}

function createWatchers(
  { evidence, lessons: { library, effects }, ports }: LearnersOptions,
  {
    compareQuotes,
    ...watchers
  }: Pick<LearningWatchers, 'reading' | 'watch'> & {
    readonly compareQuotes: CompareQuotes;
  },
): Learners['watchers'] {
  const { records, embed, sentenceModel, onWork, log } = ports;
  return {
    ...watchers,
    observeRules: createRuleObserver({ records, evidence, library, compareQuotes, onWork }),
    indexMessages: createIndexMessages({
      records,
      evidence,
      ...compact({ model: sentenceModel && { ...sentenceModel, embed } }),
    }),
    flows: createFlowWatch({ records, evidence }),
    observer: createObserver({ records, evidence, library, effects, log }),
  };
}

/** Promotes the working memory of ended sessions to notes. */
const createNotesRow = ({ ports, evidence, lessons: { library } }: LearnersOptions): LearnerRow =>
  createQueuedRow({
    learn: createNoteWriter({ checkText: checkLessonText, mostOfSession: MOST_OF_SESSION }),
    most: Number.POSITIVE_INFINITY,
    // What the model reads is remembered, not what stands in for it.
    open: async (item, state) =>
      isReadingDue(item.session, state) ? 'waits' : openSessionNotes(item, { ...ports, evidence }),
    keepsTurns: true,
    library,
    clock: ports.clock,
  });

/** Learns from what worked in sessions that have ended. */
const createLiveRow = ({ ports, evidence, lessons, models, nearest }: LearnersOptions): LearnerRow =>
  createQueuedRow({
    learn: createExtractor({
      checkText: checkLessonText,
      findSimilar: createFindSimilar(nearest, MOST_NEAR),
    }),
    most: MOST_SESSIONS,
    open: async ({ session }) => {
      const scope = await scopeOfEvidence(session, ports.records);
      if (scope === undefined) return 'gone';
      const turns = await evidence.turns(session);
      const material = createLiveMaterial(session, scope, turns, ports.clock.now());
      return { material, cases: shownCases(material), ask: await models.writer.askAbout(session) };
    },
    library: lessons.library,
    clock: ports.clock,
  });

/** Asks the judge about turns whose outcome nobody reported. Its verdicts are rewards, and change no lesson. */
function createJudgeRow(
  { evidence, models, lessons, ports }: LearnersOptions,
  signal: AbortSignal,
): LearnerRow {
  const judge = createJudgeTurns({
    evidence,
    ask: () => models.of('judge'),
    generation: () => lessons.library.generation,
    clock: ports.clock,
    newId: ports.newId,
    signal,
  });
  return {
    name: 'judge',
    due: ({ undecided }) => undecided.size > 0,
    learn: decidedLearner('judge'),
    material: async function* (state) {
      yield { journal: await judge(state) };
    },
  };
}
