import type { Budget } from '../core/budget.ts';
import { createEvidenceReader, type EvidenceReader } from '../evidence/evidence-reader.ts';
import { locateQuote } from '../evidence/locate-quote.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import { type LessonReplica, openLessonReplica } from '../lessons/lesson-replica.ts';
import { comparedText } from '../lessons/similar/near-pairs.ts';
import { type AskedModels, chatOfRole, createAskedModels } from './asked-models.ts';
import { createGate, type Gate } from './gate/gate.ts';
import { createLearningBudget } from './learning-budget.ts';
import type { LearningPorts, LearningSettings } from './learning-ports.ts';
import { createLearningState, type FactFold, type LearningState } from './learning-state.ts';
import { createNearestLessons, type NearestLessons } from './nearest-lessons.ts';
import { type OpenPractice, openPractice } from './practice/open-practice.ts';

export interface LearningParts {
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
export async function openLearningParts(
  settings: LearningSettings,
  ports: LearningPorts,
): Promise<LearningParts> {
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
