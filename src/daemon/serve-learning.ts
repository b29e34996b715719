import { isDeepStrictEqual } from 'node:util';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { PracticeTrainingCalls } from '../../train/practice-training-calls.ts';
import { HEADLESS_HOME, HEADLESS_URL } from '../agent/attempts/headless-agent.ts';
import { recertifySamples } from '../api/recertify-samples.ts';
import { createSharedAccess, type SharedAccess } from '../api/shared-access.ts';
import { createHeldCount } from '../base/held-count.ts';
import type { Log } from '../base/log.ts';
import { type CallAnswers, connectThread, type ThreadConnection } from '../base/thread-connection.ts';
import { stopWorker, workerModule } from '../base/worker-thread.ts';
import type { Config } from '../config/schema.ts';
import { headlessSettings } from '../connect/headless-settings.ts';
import { ADAPT_RULES } from '../core/adapt.ts';
import type { OpenAttemptAccess } from '../core/attempt-model.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure } from '../core/failure.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { LessonsForTask } from '../core/practice.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import { type Records, StoreError } from '../core/store.ts';
import type { Catalogue } from '../core/upstream.ts';
import { describeWriting } from '../cost/describe-cost.ts';
import { createPrices, type PriceRules } from '../cost/prices.ts';
import type { TrainingOutcome } from '../evidence/training-buffer.ts';
import { createLearningLead, type LearningLead } from '../jobs/learning-lead.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import { createProviderSlots } from '../jobs/provider-slots.ts';
import type { WritePrompt } from '../learn/compress/compressor.ts';
import { countLearned, describeLearned } from '../learn/describe-learned.ts';
import { createLearningModels, type LearningModels } from '../learn/learning-model.ts';
import type { ServedModelCost } from '../learn/serving-cost.ts';
import type { CompareBlocks } from '../lessons/compare-blocks.ts';
import type { MovedLesson } from '../lessons/library.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import { killFileBeside } from '../overlays/active-overlays.ts';
import {
  type LearningSide,
  type LearningThreadData,
  learningErrors,
  type ServingSide,
} from './learning-messages.ts';
import { answerPracticeCall } from './practice-training-messages.ts';

export interface ServeLearningOptions {
  readonly config: Config;
  readonly storeFile: string;
  /** Where the record is. */
  readonly place: string;
  /** The HMAC key of redaction marks. */
  readonly salt: string;
  /** Every secret of this installation, as of now. */
  readonly keys: () => readonly string[];
  readonly records: Records;
  /** Undefined while the record cannot be read. */
  readonly lessons: () => OpenLessons | undefined;
  readonly embed: EmbeddingModel;
  /** For whole lessons; absent: their vectors are not kept. */
  readonly embedKept?: EmbeddingModel['embed'];
  /** What a task would be shown. */
  readonly lessonsFor: LessonsForTask;
  readonly compareBlocks: CompareBlocks;
  /** Training in sessions of practice; undefined when nothing is trained. */
  readonly training?: () => PracticeTrainingCalls | undefined;
  /** A way through the gateway for one attempt of a program. */
  readonly openAttempt: OpenAttemptAccess;
  readonly catalogue: Catalogue;
  readonly prices: () => PriceRules;
  readonly clock: Clock;
  readonly log: Log;
  /** What the processes of the store share. */
  readonly jobs: Jobs;
  /** What this process may do of it; everything unless it is given. */
  readonly work?: { readonly learning: boolean; readonly attempts: boolean } | undefined;
  /** For tests. */
  readonly startThread?: StartThread;
}

type StartThread = (
  module: URL,
  options: WorkerOptions & { readonly workerData: LearningThreadData },
) => Worker;

/** Learning as the serving thread sees it: the work is done in a thread of its own, which is restarted when it ends. */
export interface ServedLearning {
  /** Whether this process learns, and not another one of the same store. */
  readonly isLeader: () => boolean;
  /** New facts can be read: the ends of `turns` turns, or without a number facts that someone waits for the lesson of. */
  wake(turns?: number): void;
  status(): JsonObject;
  /** The training samples that a change to the library does not affect; none unless `learn.flush` is `scoped`. */
  recertify(moved: readonly MovedLesson[]): Promise<readonly string[]>;
  /** Rewarded turns that weights may be trained on: current prompts, and not used as evidence for lessons. */
  outcomes(): readonly TrainingOutcome[];
  /** Writes a shorter system prompt with the evolver's model, within the daily budget. Never rejects. */
  readonly shorten: WritePrompt;
  /** See `Practice.command`. Rejects while the thread is not running. */
  practice(request: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
  /** What the user of a running session has stated. Rejects while the thread is not running. */
  statements(session: string): Promise<readonly string[]>;
  /** Resolves when everything recorded so far is in the status, or when the thread has ended. */
  look(): Promise<void>;
  /** Resolves when there is nothing left to learn for now, or when the thread has ended. */
  settle(): Promise<void>;
  /** For metrics. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** For metrics: what served turns cost, by model. */
  readonly served: () => readonly ServedModelCost[];
  /** The settings have changed: the thread is started again if they concern it. It continues where it was. */
  reload(): Promise<void>;
  /** Aborts what is under way. */
  close(): Promise<void>;
}

interface LearningThread {
  readonly worker: Worker;
  readonly side: ThreadConnection<LearningSide>;
}

type StatusPost = Extract<ServingSide['posts'], { readonly type: 'status' }>;

const MODULE = workerModule('./learning-thread.ts', import.meta.url);
const HEAP_MB = 512;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Turns that end within this time are told together: to wake a thread costs as much as to serve a small request. */
const WAKE_MS = 100;
/** The keys are read again for a wake-up after this time: reading them may read files. */
const KEYS_MS = 5_000;
const NOT_RUNNING = 'the learning thread is not running';

export function serveLearning(options: ServeLearningOptions): ServedLearning {
  const { config, clock, log, records, lessons, keys, startThread = startWorker } = options;
  const { prices } = options;
  const since = clock.now();
  let sent = threadSettings(config, prices(), since, options.storeFile);
  const writers = createLearningModels({
    settings: config,
    catalogue: options.catalogue,
    prices: (name) => createPrices(prices())(name),
    clock,
  });
  const shared = createSharedAccess(options.openAttempt);
  const work = options.work ?? { learning: true, attempts: true };
  const lead: LearningLead = createLearningLead({
    ...{ jobs: options.jobs, mayLead: work.learning, clock, log },
    onChange: async () => {
      // Others have published meanwhile.
      if (!lead.isLeader()) return restart();
      await lessons()?.reload();
      // The thread goes on with the attempts that it is making.
      if (thread === undefined) return;
      thread.side.post({ type: 'lead' });
      postWake();
    },
    onLook: () => postWake(0),
  });
  const answers = createAnswers(options, writers, shared, lead);
  let thread: LearningThread | undefined;
  let known: StatusPost | undefined;
  let samples: readonly TrainingOutcome[] = [];
  let problem: string | undefined = 'starting';
  let again: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let sentKeys: readonly string[] = [];
  let stopListening: (() => void) | undefined;
  let wakes = 0;
  let isClosed = false;

  const receive = (message: ServingSide['posts']): void => {
    if (message.type === 'log') log[message.level](message.fields, message.message);
    else if (message.type === 'attempt-over') shared.close(message.id);
    else if (message.type === 'samples') samples = message.samples;
    else {
      known = message;
      problem = undefined;
    }
  };

  const begin = (): void => {
    const startedAt = clock.monotonic();
    wakes = 0;
    sentKeys = [...keys()];
    const worker = startThread(MODULE, {
      workerData: {
        place: options.place,
        salt: options.salt,
        keys: sentKeys,
        ...sent,
        now: clock.now(),
        isLeader: lead.isLeader(),
        leader: lead.leader(),
        takesAttempts: work.attempts,
      },
      // Learning that needs more ends its thread, not the process.
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    const side = connectThread<ServingSide, LearningSide>(worker, { answers, receive, ...learningErrors });
    thread = { worker, side };
    /** All state is folded from facts and all writes are idempotent, so that nothing is lost or doubled by a restart. */
    const ended = (why: string): void => {
      side.end(new Error(NOT_RUNNING));
      void options.training?.()?.end();
      shared.closeAll();
      if (thread?.worker !== worker) return;
      thread = undefined;
      if (isClosed) return;
      if (clock.monotonic() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      problem = `the learning thread ended: ${why}`;
      log.error({ problem: why, restartsInMs: pauseMs }, 'the learning thread ended and is started again');
      again = setTimeout(begin, pauseMs);
      again.unref();
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
    };
    worker.on('error', (error: Error) => ended(error.message));
    worker.on('exit', (code) => ended(`exit code ${code}`));
  };

  let keysSentAt = Number.NEGATIVE_INFINITY;
  const sendKeys = ({ side }: LearningThread): void => {
    keysSentAt = clock.monotonic();
    const now = keys();
    if (now.length === sentKeys.length && now.every((key, index) => key === sentKeys[index])) return;
    sentKeys = [...now];
    side.post({ type: 'keys', keys: sentKeys });
  };
  /** A thread that is started later reads the facts anyway. */
  const postWake = (ended?: number): void => {
    stopListening ??= lessons()?.library.onChange(() => postWake());
    if (thread === undefined) return;
    if (clock.monotonic() - keysSentAt >= KEYS_MS) sendKeys(thread);
    const turns = ended === undefined ? {} : { turns: ended };
    thread.side.post({ type: 'wake', now: clock.now(), nth: ++wakes, ...turns });
  };
  const endedTurns = createHeldCount(WAKE_MS, postWake);
  const restart = async (): Promise<void> => {
    const old = thread;
    // Its end is expected: it is not reported, and not followed by another start.
    thread = undefined;
    clearTimeout(again);
    if (old !== undefined) await stopWorker(old.worker);
    if (isClosed) return;
    begin();
    postWake();
  };
  begin();
  postWake();

  return {
    isLeader: lead.isLeader,
    // What is not a turn somebody waits for.
    wake: (turns) => (turns === undefined ? postWake() : endedTurns.add(turns)),
    recertify: async (moved) =>
      config.learn.flush === 'scoped' ? recertifySamples(samples, moved, records, options.compareBlocks) : [],
    outcomes: () => samples,
    shorten: async (prompt, limitTokens, signal) => {
      try {
        if (thread === undefined) throw new Error(NOT_RUNNING);
        sendKeys(thread);
        return await thread.side.call('shorten', [prompt, limitTokens], signal);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { ok: false, why, isRetryable: true };
      }
    },
    served: () => known?.status.cost.serving.models ?? [],
    counts: () => (known === undefined ? {} : countLearned(known, lessons(), clock.now())),
    status: () => {
      const fault = problem === undefined ? {} : { problem };
      const judge = writers.model('judge');
      const tested = known?.status.judge;
      const writing = describeWriting({
        evolver: writers.model('evolver'),
        judge,
        isJudgeOff: tested?.weight === 0 && tested.testedModel === judge?.name,
        unusable: (['evolver', 'judge'] as const).flatMap((role) => writers.unusable(role) ?? []),
        limits: config.learn.budget,
      });
      const pending =
        (known?.status.pending ?? 1) + (known?.heard === wakes && endedTurns.held() === 0 ? 0 : 1);
      const learned = known === undefined ? fault : describeLearned(known, fault);
      return { ...writing, ...learned, pending, ...lead.describe() };
    },
    practice: async (request, signal) => {
      if (thread === undefined) throw new StoreError('io', NOT_RUNNING);
      sendKeys(thread);
      return thread.side.call('practice', [request], signal);
    },
    statements: async (session) => {
      if (thread === undefined) throw new StoreError('io', NOT_RUNNING);
      return thread.side.call('statements', [session]);
    },
    look: async () => {
      endedTurns.flush();
      await thread?.side.call('look', []).catch(() => undefined);
    },
    settle: async () => {
      endedTurns.flush();
      // The thread's end is in the status and in the log.
      await thread?.side.call('settle', []).catch(() => undefined);
    },
    reload: async () => {
      const now = threadSettings(config, prices(), since, options.storeFile);
      if (isClosed || isDeepStrictEqual(now, sent)) return;
      sent = now;
      await restart();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(again);
      stopListening?.();
      await thread?.side.call('drain', []).catch(() => undefined);
      if (thread !== undefined) await stopWorker(thread.worker);
      await lead.close();
    },
  };
}

/** What the thread is started with; other settings are read here, when they are needed. */
const threadSettings = (
  { library, learn, practice }: Config,
  prices: PriceRules,
  since: number,
  storeFile: string,
): Pick<LearningThreadData, 'settings'> => ({
  settings: {
    autonomy: library.autonomy,
    failures: learn.failures,
    maxNewSkills: learn.maxNewSkills,
    budget: { ...learn.budget },
    prices,
    since,
    verifiers: learn.verifiers,
    adapt: { ...ADAPT_RULES, killFile: killFileBeside(storeFile) },
    practice: { ...practice, budget: { ...practice.budget } },
  },
});

const startWorker: StartThread = (module, options) => new Worker(module, options);

/** What the serving thread does for the learning thread. None of it calls back into that thread. */
function createAnswers(
  { config, records, lessons, embed, embedKept, lessonsFor, training, jobs }: ServeLearningOptions,
  models: LearningModels,
  shared: SharedAccess,
  lead: LearningLead,
): CallAnswers<ServingSide['calls']> {
  const limitOf = (provider: string) => config.providers[provider]?.concurrency;
  const within = createProviderSlots({ leases: jobs.leases, limitOf });
  return {
    append: async (_, facts, blocks) => {
      const fence = lead.fence();
      const appended = await records.append(
        fence === undefined ? facts : facts.map((one) => ({ ...one, fence })),
        blocks,
      );
      appended.forEach(({ seq, isNew }, index) => {
        const fact = facts[index];
        if (!isNew || fact === undefined) return;
        lessons()?.trials.add(fact);
        if (fact.fact.type === 'session-scored') lessons()?.effects.add({ seq, ...fact });
      });
      return appended;
    },
    publish: async (_, set) => {
      const fence = lead.fence();
      const open = lessons();
      if (open === undefined) throw new StoreError('io', 'the library cannot be read yet');
      return open.library.publish(set, fence);
    },
    model: async (_, role) => models.model(role),
    chat: (signal, role, request) => {
      const provider = (models.model(role)?.name ?? '').split('/', 1)[0] ?? '';
      return within(provider, () => models.chat(role, request, signal), signal).catch((error: unknown) => {
        if (signal.aborted) throw error;
        const failure = createFailure(
          'unreachable',
          `no turn at ${provider} could be agreed on: ${String(error)}`,
        );
        return [{ type: 'failure', failure } as const];
      });
    },
    embed: async (_, texts) => embed.embed(texts),
    embedKept: async (_, texts) => embedKept?.(texts) ?? embed.embed(texts),
    lessonsFor: (_, query, force) => lessonsFor(query, force),
    training: (_, call) => answerPracticeCall(call, training?.()),
    programSettings: async (_, program) => {
      const place = { url: HEADLESS_URL, homeDir: HEADLESS_HOME, config };
      return headlessSettings(program, compact({ ...place, model: models.model('attempt')?.name })) ?? {};
    },
    openAttempt: async (_, order) => shared.open(order),
    attemptTurns: (_, id) => shared.turns(id),
  };
}
