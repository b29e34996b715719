import type { Log } from '../base/log.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { Ask, Budget } from '../core/learn.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { NewFact, Records } from '../core/store.ts';
import type { Catalogue } from '../core/upstream.ts';
import { locateQuote } from '../evidence/locate-quote.ts';
import type { EvidenceReader } from '../evidence/session-evidence.ts';
import { createVerifiers } from '../evidence/verifiers/registry.ts';
import { verifySession } from '../evidence/verify-session.ts';
import { createDistiller } from '../learn/distiller/distiller.ts';
import { createEvolver } from '../learn/evolver/evolver.ts';
import { createGate } from '../learn/gate/gate.ts';
import { createJudgeStep } from '../learn/judge-step.ts';
import { createLearnStep } from '../learn/learn-step.ts';
import { type Learning, startLearning } from '../learn/learning.ts';
import { learningModel } from '../learn/learning-model.ts';
import type { LearningState } from '../learn/learning-state.ts';
import { createExtractor } from '../learn/live/extractor.ts';
import { createBudget, NO_COST } from '../learn/model-cost.ts';
import { createNearestLessons } from '../learn/nearest-lessons.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import type { MovedLesson } from '../lessons/library.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import { comparedText } from '../lessons/similar/near-pairs.ts';
import {
  createTrainingBuffer,
  SAMPLE_CAP,
  type TrainingBuffer,
  type TrainingSample,
} from '../train/buffer.ts';
import { createSampleRecertifier, type SampleRecertifier } from './recertify-samples.ts';

export interface ServeLearningOptions {
  readonly config: Config;
  readonly records: Records;
  readonly evidence: EvidenceReader;
  /** Undefined while the record cannot be read. */
  readonly shelf: () => OpenLessons | undefined;
  readonly embed: EmbeddingModel;
  readonly catalogue: Catalogue;
  readonly hasSecret: (text: string) => boolean;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

export interface ServedLearning {
  /** Asks the evolver's model, within the daily budget. */
  readonly ask: Ask;
  /** New facts were recorded. */
  wake(delayMs: number): void;
  status(): JsonObject;
  /** The training samples that a change to the library does not affect; none unless `learn.flush` is `scoped`. */
  recertify(moved: readonly MovedLesson[]): Promise<readonly string[]>;
  /** Rewarded turns that weights may be trained on: current prompts, and not used as evidence for lessons. */
  samples(): readonly TrainingSample[];
  /** Resolves when there is nothing left to learn for now. */
  settle(): Promise<void>;
  /** For metrics. */
  readonly counts: () => Readonly<Record<string, number>>;
  close(): Promise<void>;
}

const AGAIN_MS = 10_000;
const SOON_MS = 100;
const MOST_NEAR = 5;
const NO_JUDGE = noModel('no judge model is configured: set models.judge');
const NO_WRITER = noModel('no learning model is configured: set models.evolver');

/** Starts learning as soon as the library can be read; retries until then. */
export function serveLearning(options: ServeLearningOptions): ServedLearning {
  const stop = new AbortController();
  const isScoped = options.config.learn.flush === 'scoped';
  const recertifier = isScoped ? createSampleRecertifier(options.embed, options.records) : undefined;
  const buffer = createTrainingBuffer({ cap: SAMPLE_CAP });
  let learning: OpenLearning | undefined;
  let isWanted = false;
  let problem: string | undefined;
  let again: NodeJS.Timeout | undefined;

  const begin = async (): Promise<void> => {
    const shelf = options.shelf();
    try {
      if (shelf === undefined) throw new Error('the library cannot be read yet');
      learning = await open(options, shelf, buffer, recertifier, stop.signal);
      problem = undefined;
      // Facts that were recorded before the start may not be readable yet.
      if (isWanted) setTimeout(() => learning?.wake(0), SOON_MS).unref();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      again = setTimeout(() => void begin(), AGAIN_MS);
      again.unref();
    }
  };
  const begun = begin();

  return {
    ask: async (question, signal) => learning?.ask(question, signal) ?? NO_WRITER,
    wake: (delayMs) => {
      if (learning === undefined) isWanted = true;
      else learning.wake(delayMs);
    },
    recertify: async (moved) =>
      recertifier === undefined || learning === undefined ? [] : recertifier.survive(buffer.samples(), moved),
    samples: buffer.samples,
    counts: () =>
      learning === undefined ? {} : countsOf(learning.state, buffer, options.shelf(), options.clock.now()),
    status: () => learning?.status() ?? { problem: problem ?? 'starting' },
    settle: async () => {
      await begun;
      await learning?.settle();
    },
    close: async () => {
      stop.abort();
      clearTimeout(again);
      await begun;
      await learning?.close();
      await options.evidence.close();
    },
  };
}

interface OpenLearning extends Learning {
  readonly ask: Ask;
}

async function open(
  options: ServeLearningOptions,
  shelf: OpenLessons,
  buffer: TrainingBuffer,
  recertifier: SampleRecertifier | undefined,
  signal: AbortSignal,
): Promise<OpenLearning> {
  const { config, records, evidence, embed, catalogue, hasSecret, clock, newId, log } = options;
  const { library } = shelf;
  const nearest = createNearestLessons(embed, library);
  const { maxNewSkills, failures } = config.learn;
  const gate = createGate({
    autonomy: config.library.autonomy,
    checkText: checkLessonText,
    hasSecret,
    findSimilar: async (text, among) =>
      (await nearest(comparedText({ text }), 1, among)).map(({ lesson, cosine }) => ({
        id: lesson.id,
        cosine,
      })),
    embed: embed.embed,
    voteDay: (at) => new Date(at).toDateString(),
    locate: (turn, text) => locateQuote(turn, text, records),
  });
  const { usdPerDay } = config.learn.budget;
  let budget: Budget | undefined;
  /** Includes what earlier runs spent today. */
  const budgetOf = ({ totals }: LearningState): Budget => {
    budget ??= createBudget({ usdPerDay, clock, spent: totals.usdToday });
    return budget;
  };
  const askOf = (role: 'evolver' | 'judge', known: LearningState): Ask | undefined =>
    learningModel(role, { models: config.models, catalogue, budget: budgetOf(known), clock, log });
  const step = createLearnStep({
    records,
    evidence,
    shelf,
    failures,
    ask: (known) => askOf('evolver', known),
    evolver: createEvolver({
      maxNewSkills,
      nearest: async (text) => (await nearest(text, MOST_NEAR)).map(({ lesson }) => lesson),
      checkText: checkLessonText,
    }),
    distiller: createDistiller({ maxNewSkills, checkText: checkLessonText }),
    live: createExtractor({ checkText: checkLessonText }),
    gate,
    clock,
    newId,
    log,
    signal,
  });
  const judge = createJudgeStep({
    evidence,
    ask: (known) => askOf('judge', known),
    generation: () => library.generation,
    clock,
    newId,
    signal,
  });
  const learn = async (state: LearningState): Promise<readonly NewFact[]> => [
    ...(await step(state)),
    ...(await judge(state)),
  ];
  const remember = (turn: string, task: string): void => {
    recertifier
      ?.remember(turn, task)
      .catch((error: unknown) =>
        log.debug({ err: error }, 'the task of a training sample could not be embedded'),
      );
  };
  let state: LearningState | undefined;
  /** For verifiers that ask a model. */
  const askJudge: Ask = async (question, aborted) => {
    const ask = state && askOf('judge', state);
    return ask?.(question, aborted) ?? NO_JUDGE;
  };
  const rows = config.learn.verifiers;
  const verifiers = await createVerifiers(rows, { ask: askJudge });
  const verify = async (
    session: string,
    wanted: readonly string[] | undefined,
  ): Promise<readonly NewFact[]> =>
    rows.length === 0
      ? []
      : verifySession(session, wanted, verifiers, records, evidence, clock.now(), signal);
  const learning = await startLearning({
    records,
    shelf,
    evidence,
    buffer: { add: buffer.add, counts: () => ({ ...buffer.counts() }) },
    clock,
    log,
    learn,
    verify,
    succeeded: remember,
  });
  state = learning.state;
  library.onChange(() => learning.wake(0));
  const ask: Ask = async (question, aborted) =>
    askOf('evolver', learning.state)?.(question, aborted) ?? NO_WRITER;
  return { ...learning, ask };
}

function noModel(why: string) {
  return { ok: false, why, isRetryable: true, cost: NO_COST } as const;
}

function countsOf(
  { support, totals, queue }: LearningState,
  buffer: TrainingBuffer,
  shelf: OpenLessons | undefined,
  now: number,
): Readonly<Record<string, number>> {
  return {
    generation: shelf?.library.generation ?? 0,
    lessons_shown: shelf?.library.shown(now).length ?? 0,
    failures: totals.failures,
    successes: totals.successes,
    failures_waiting: support.size,
    sessions_waiting: queue.size,
    cycles: totals.cycles,
    cycles_published: totals.published,
    samples: buffer.counts().query,
    usd_today: totals.usdToday,
  };
}
