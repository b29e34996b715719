import { existsSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import type { Budget, OpenBudget } from '../core/budget.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { type Ask, NO_COST } from '../core/learn.ts';
import type { ChangeSet, PublishResult } from '../core/lesson.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { Records } from '../core/store.ts';
import type { VerifierRow } from '../core/verifier-row.ts';
import { createPrices, type PriceRules } from '../cost/prices.ts';
import { createEvidenceReader, type EvidenceRecords } from '../evidence/evidence-reader.ts';
import { describeJudgeTest } from '../evidence/judge/judge-test.ts';
import { locateQuote } from '../evidence/locate-quote.ts';
import { type RewardWeights, TASK_ALONE } from '../evidence/shape-reward.ts';
import { createVerifiers } from '../evidence/verifiers/registry.ts';
import { verifySession } from '../evidence/verify-session.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import { openLessonReplica } from '../lessons/lesson-replica.ts';
import { comparedText } from '../lessons/similar/near-pairs.ts';
import { ADAPTATION, type AdaptRules, openAdaptStep } from './adapt/adapt-step.ts';
import { createFlowWatch } from './adapt/flow-events.ts';
import { createObserver } from './adapt/observer.ts';
import { createAsk } from './ask.ts';
import type { WritePrompt } from './compress/compressor.ts';
import { createPromptWriter } from './compress/write-prompt.ts';
import { createDistiller } from './distiller/distiller.ts';
import { createQuoteComparison } from './distiller/same-rule.ts';
import { createEvolver } from './evolver/evolver.ts';
import type { Autonomy } from './gate/autonomy-rule.ts';
import { createGate } from './gate/gate.ts';
import { createIdentityStep } from './identity/identity-step.ts';
import { openIdentityJudge } from './identity/open-identity-judge.ts';
import { openReflection } from './identity/reflect.ts';
import { withRulings } from './identity/rule-answers.ts';
import { createJudgeStep } from './judge-step.ts';
import { type AskedModel, createLearnStep } from './learn-step.ts';
import { type LearningRecords, startLearning } from './learning.ts';
import { createLearningBudget, type LearningLimits } from './learning-budget.ts';
import type { LearningModel, LearningRole } from './learning-model.ts';
import type { FactFold, LearningState } from './learning-state.ts';
import type { LearningStatus } from './learning-status.ts';
import { createReviser } from './lesson-use/reviser.ts';
import { createExtractor } from './live/extractor.ts';
import { withMemory } from './memory/serve-memory.ts';
import { createWakeStep } from './memory/wake-archived.ts';
import { createReadQuotes, MOST_OF_SESSION } from './memory/working-memory.ts';
import { createNoteWriter } from './memory/write/write-notes.ts';
import { createNearestLessons } from './nearest-lessons.ts';
import { openPractice, type PracticeConfig, type PracticePorts } from './practice/open-practice.ts';
import type { Practice } from './practice/serve-practice.ts';
import { createMoveStep } from './team/move-step.ts';
import { createTransferStep } from './transfer/transfer-step.ts';

/** Plain data: it is passed to the thread. */
export interface LearningSettings {
  readonly autonomy: Autonomy;
  /** Whether consolidation writes overviews; absent: not. */
  readonly overviews?: boolean;
  /** The number of failures in one scope that starts the evolver. */
  readonly failures: number;
  readonly maxNewSkills: number;
  readonly budget: LearningLimits;
  /** What decides the prices of the models that are served. */
  readonly prices: PriceRules;
  /** When the daemon started: what is served from then on is counted. */
  readonly since: number;
  /** The rows of the configured verifiers. */
  readonly verifiers: readonly VerifierRow[];
  /** How long new failures wait for the evolver's answer, in milliseconds. */
  readonly patienceMs?: number;
  readonly practice?: PracticeConfig;
  /** What rewards of attempts are made of; absent: of the task's alone. */
  readonly rewards?: RewardWeights;
  readonly adapt?: AdaptSettings;
}

/** The rules of the adaptation engine. */
interface AdaptSettings extends AdaptRules {
  /** While this file exists, nothing is learned. */
  readonly killFile?: string;
}

/** All that learning needs from outside its thread. */
export interface LearningPorts {
  readonly records: LearningRecords & Pick<Records, 'sessions' | 'append'>;
  readonly decoder: EvidenceRecords['decoder'];
  /** Publishes in the thread that owns the library. Idempotent by the set's id. */
  readonly publish: (set: ChangeSet) => Promise<PublishResult>;
  /** A role's model; undefined when there is none. Looked up for each run: one may become available later. */
  readonly model: (role: LearningRole) => Promise<LearningModel | undefined>;
  readonly chat: (
    role: LearningRole,
    request: ChatRequest,
    signal: AbortSignal,
  ) => Promise<readonly ChatEvent[]>;
  readonly embed: EmbeddingModel['embed'];
  /** The same for whole lessons, whose vectors are kept between two starts; absent: they are not. */
  readonly embedKept?: EmbeddingModel['embed'];
  readonly hasSecret: (text: string) => boolean;
  /** The training samples, folded from the same facts. */
  readonly buffer: FactFold;
  readonly onStatus: (status: LearningStatus) => void;
  /** Several processes write the record. */
  readonly isShared?: boolean;
  /** Where budgets are kept; in this process unless several share them. */
  readonly openBudget?: OpenBudget | undefined;
  /** Absent: nothing is practised. */
  readonly practice?: PracticePorts;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

export interface LearningWorker {
  /** New facts were recorded: the ends of `turns` turns, or without a number facts that are learned from at once. */
  wake(turns?: number): void;
  /** Resolves when everything recorded so far has been read, and the status was reported. */
  look(): Promise<void>;
  /** Resolves when there is nothing left to learn for now. */
  settle(): Promise<void>;
  /** What the user of a running session has stated and not taken back, letter by letter; nothing while learning is off. */
  statements(session: string): Promise<readonly string[]>;
  /** Practice, where there is any, and consolidation. */
  readonly practice: Practice;
  /** Writes a shorter system prompt, within the daily budget. Never rejects. */
  readonly shorten: WritePrompt;
  /** Aborts what is under way. */
  close(): Promise<void>;
}

const MOST_NEAR = 5;
const USUAL_ADAPT: AdaptSettings = { onePerSessionAndDay: true, kinds: {} };
const NO_JUDGE = noModel('no judge model is configured: set models.judge');
/** A prompt belongs to a session; which provider serves it is not known here. */
const NOT_NAMED = noModel(
  'prompts are shortened only by a model that is named for learning: set models.evolver',
);
const NO_WRITER = noModel('no learning model is configured: set models.evolver');

/** Everything that learns, without its thread. Rejects when the record cannot be read. */
export async function startLearningWorker(
  settings: LearningSettings,
  ports: LearningPorts,
): Promise<LearningWorker> {
  const { records, hasSecret, clock, newId, log } = ports;
  const { failures, maxNewSkills, verifiers: rows } = settings;
  const stop = new AbortController();
  const { signal } = stop;
  const evidence = createEvidenceReader({ ...records, decoder: ports.decoder });
  const lessons = await openLessonReplica({
    records,
    publish: ports.publish,
    clock,
    newId,
    onFault: (error) => log.error({ err: error }, 'a listener for library changes failed'),
  });
  const { library, effects } = lessons;
  const nearest = createNearestLessons({ embed: ports.embedKept ?? ports.embed }, library);
  const gate = createGate({
    autonomy: settings.autonomy,
    checkText: checkLessonText,
    hasSecret,
    findSimilar: async (text, among) =>
      (await nearest(comparedText({ text }), 1, among)).map(({ lesson, cosine }) => ({
        id: lesson.id,
        cosine,
      })),
    embed: ports.embed,
    voteDay: (at) => new Date(at).toDateString(),
    locate: (turn, text) => locateQuote(turn, text, records),
  });
  const budget = await createLearningBudget({
    ...{ limits: settings.budget, records, clock, newId, openBudget: ports.openBudget },
  });
  let state: LearningState | undefined;
  const askOf = createAskOf(budget, () => state?.switch.isOn ?? true, ports);
  const compareQuotes = createQuoteComparison(ports.embed);
  const step = createLearnStep({
    records,
    evidence,
    lessons,
    failures,
    writer: () => askOf('evolver'),
    evolver: createEvolver({
      maxNewSkills,
      nearest: async (text) => (await nearest(text, MOST_NEAR)).map(({ lesson }) => lesson),
      checkText: checkLessonText,
    }),
    distiller: createDistiller({ maxNewSkills, checkText: checkLessonText, compareQuotes }),
    live: createExtractor({
      checkText: checkLessonText,
      findSimilar: async (text, among) =>
        (await nearest(comparedText({ text }), MOST_NEAR, among)).map(({ lesson: { id }, cosine }) => ({
          id,
          cosine,
        })),
    }),
    notes: createNoteWriter({ checkText: checkLessonText, mostOfSession: MOST_OF_SESSION }),
    reviser: createReviser({ checkText: checkLessonText }),
    compareQuotes,
    gate,
    clock,
    newId,
    log,
    signal,
    ...(settings.patienceMs === undefined ? {} : { patienceMs: settings.patienceMs }),
  });
  const judge = createJudgeStep({
    evidence,
    ask: () => askOf('judge'),
    generation: () => library.generation,
    clock,
    newId,
    signal,
  });
  const askLater =
    (role: LearningRole, missing: typeof NO_JUDGE): Ask =>
    async (question, aborted) => {
      const found = await askOf(role);
      if (found?.onlyFor !== undefined) return NOT_NAMED;
      const test = role === 'judge' ? state?.calibration.tested()?.test : undefined;
      if (test?.isPassed === false && test.model === found?.model)
        return noModel(`the judge ${test.model} is switched off: ${describeJudgeTest(test)}`);
      return found?.ask(question, aborted) ?? missing;
    };
  const practice =
    ports.practice === undefined || settings.practice === undefined
      ? undefined
      : await openPractice({
          config: settings.practice,
          ports: ports.practice,
          records,
          evidence,
          lessons,
          gate,
          verifiers: rows,
          nearest,
          embed: ports.embed,
          model: async (role) => {
            const found = await ports.model(role);
            return found && { ...found, chat: chatOfRole(role, ports.chat) };
          },
          decodeTurn: (turn) => ports.decoder()(turn),
          calibration: () => state?.calibration,
          rewards: settings.rewards ?? TASK_ALONE,
          isOn: () => state?.switch.isOn ?? true,
          mayPromote: settings.autonomy !== 'manual',
          clock,
          newId,
          log,
        });
  const memory = withMemory(practice, {
    catchUp: lessons.catchUp,
    library,
    effects,
    records,
    embed: ports.embed,
    autonomy: settings.autonomy,
    overviews: settings.overviews ?? false,
    clock,
    ...(practice === undefined ? {} : { practise: practice.practise }),
  });
  const wake = createWakeStep({ library, evidence, embed: ports.embed });
  const identity = createIdentityStep({ records, evidence, library, gate, clock, newId, log, signal });
  const { killFile, ...rules } = settings.adapt ?? USUAL_ADAPT;
  const adapt = await openAdaptStep({
    records,
    library,
    rules: { ...rules, autonomy: settings.autonomy, checkText: checkLessonText, hasSecret },
    clock,
    newId,
    journal: (note) => log.debug({ learner: ADAPTATION }, note),
    signal,
  });
  const transfer = createTransferStep({
    library,
    effects,
    records,
    tasks: async () => (await practice?.requests()) ?? [],
    embed: ports.embed,
    autonomy: settings.autonomy,
    checkText: checkLessonText,
    clock,
    newId,
  });
  const move = createMoveStep({
    library,
    effects,
    records,
    compareQuotes,
    autonomy: settings.autonomy,
    checkText: checkLessonText,
    clock,
    newId,
  });
  const isStopped = (): boolean => signal.aborted || isKilled() || state?.switch.isOn === false;
  const reflection = await openReflection({ identity, transfer, records, isStopped, clock });
  const isKilled = (): boolean => killFile !== undefined && existsSync(killFile);
  const verifiers = await createVerifiers(rows, { ask: askLater('judge', NO_JUDGE) });
  const learning = await startLearning({
    records,
    effects,
    lessonOf: (id) => library.lesson(id),
    flows: createFlowWatch({ records, evidence }),
    limits: adapt.limits,
    evidence,
    observer: createObserver({ records, evidence, library, effects, log }),
    buffer: joinFolds([ports.buffer, adapt, identity, wake, ...(practice?.folds ?? [])]),
    prices: createPrices(settings.prices),
    since: settings.since,
    isShared: ports.isShared,
    budget,
    clock,
    log,
    failures,
    learn: async (known, write) => {
      if (isKilled()) return;
      await step.learn(known, write);
      await adapt.learn(known, write, () => signal.aborted || !known.switch.isOn);
      if (settings.autonomy !== 'manual')
        await wake
          .learn(() => signal.aborted || !known.switch.isOn)
          .catch((error: unknown) =>
            log.warn({ err: error }, 'archived lessons could not be compared with requests'),
          );
    },
    study: async (known, write) => {
      if (isKilled()) return;
      await step.study(known, write);
      await move(write, () => signal.aborted || !known.switch.isOn);
      await write(await judge(known));
    },
    settled: step.settled,
    verify: async (session, wanted) =>
      rows.length === 0
        ? []
        : verifySession({ session, wanted, verifiers, records, evidence, now: clock.now() }, signal),
    libraryChanged: (isErased) => (isErased ? lessons.reload() : lessons.catchUp()),
    reflection: reflection.last,
    onStatus: ports.onStatus,
  });
  state = learning.state;
  return {
    wake: learning.wake,
    look: learning.look,
    settle: learning.settle,
    statements: createReadQuotes({ records, evidence, library, hasSecret, isStopped }),
    shorten: createPromptWriter({ ask: askLater('evolver', NO_WRITER), hasSecret, newId }),
    practice: withRulings(reflection.withReflection(memory), {
      library,
      openJudge: async (aborted) => {
        const model = (await askOf('judge'))?.model;
        const askAbout = (): Ask => askLater('judge', NO_JUDGE);
        // Only a judge that the owner named answers here.
        const named = { askAbout, mayAsk: async () => true, records, clock };
        return model === undefined ? undefined : openIdentityJudge({ model, ...named }, aborted);
      },
    }),
    close: async () => {
      stop.abort();
      await memory.close();
      await learning.close();
    },
  };
}

/** A role's model, and the way to ask it within the daily budget; none while learning is off. */
function createAskOf(
  budget: Budget,
  isOn: () => boolean,
  { model: find, chat, clock, log }: LearningPorts,
): (role: LearningRole) => Promise<(AskedModel & { readonly model: string }) | undefined> {
  return async (role) => {
    const found = isOn() ? await find(role) : undefined;
    if (found === undefined) return undefined;
    const { name, price, onlyFor } = found;
    const model = chatOfRole(role, chat);
    const journal = (note: string) => log.debug({ role }, note);
    const ask = createAsk({ model, name, price, budget, clock, journal });
    return { ask, model: name, ...(onlyFor === undefined ? {} : { onlyFor }) };
  };
}

/** The model of a role, by the one way to call it. */
export const chatOfRole = (role: LearningRole, chat: LearningPorts['chat']): ChatModel =>
  async function* (request, { signal }) {
    yield* await chat(role, request, signal);
  };

const joinFolds = (folds: readonly FactFold[]): FactFold => ({
  add: (stored) => {
    for (const fold of folds) fold.add(stored);
  },
});

function noModel(why: string) {
  return { ok: false, why, isRetryable: true, cost: NO_COST } as const;
}
