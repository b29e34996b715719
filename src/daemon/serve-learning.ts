import { isDeepStrictEqual } from 'node:util';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { PracticeTrainingCalls } from '../../train/practice-training-calls.ts';
import { createSharedAccess, type SharedAccess } from '../api/shared-access.ts';
import { createHeldCount } from '../base/held-count.ts';
import type { Log } from '../base/log.ts';
import {
  type CallAnswers,
  connectThread,
  stopWorker,
  type ThreadConnection,
  workerModule,
} from '../base/worker-thread.ts';
import type { Config } from '../config/schema.ts';
import type { OpenAttemptAccess } from '../core/attempt-model.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure } from '../core/failure.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { LessonsForTask } from '../core/practice.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { Recollect } from '../core/recollection.ts';
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
import type { ServedModelCost } from '../learn/model-cost.ts';
import type { CompareBlocks } from '../lessons/compare-blocks.ts';
import { isAboutEffects } from '../lessons/effect/lesson-effects.ts';
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
  /** Told the rules whose check applies to what the agent of a session did last. */
  readonly onWork?: (session: string, rules: readonly string[]) => void;
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
  /** Rejects while the thread is not running. */
  readonly recollect: Recollect;
  /** Whether something was recorded that the thread has not looked at yet. */
  isBehind(): boolean;
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

/** What the thread has posted last. */
interface Posted {
  status: Extract<ServingSide['posts'], { readonly type: 'status' }> | undefined;
  samples: readonly TrainingOutcome[];
  /** Why there is no thread, or no word of it yet. */
  problem: string | undefined;
}

const MODULE = workerModule('./learning-thread.ts', import.meta.url);
const HEAP_MB = 512;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Turns that end within this time are told together: to wake a thread costs as much as to serve a small request. */
const WAKE_MS = 100;
const NOT_RUNNING = 'the learning thread is not running';

export function serveLearning(options: ServeLearningOptions): ServedLearning {
  const { config, clock, records, lessons, prices } = options;
  const since = clock.now();
  const readSettings = () => threadSettings(config, prices(), since, options.storeFile);
  let settings = readSettings();
  const writers = createLearningModels({
    settings: config,
    catalogue: options.catalogue,
    prices: (name) => createPrices(prices())(name),
    clock,
  });
  const shared = createSharedAccess(options.openAttempt);
  const work = options.work ?? { learning: true, attempts: true };
  const lead = openLead(options, work.learning, () => thread);
  const posted: Posted = { status: undefined, samples: [], problem: 'starting' };
  const thread: SupervisedThread = superviseThread(options, {
    answers: createAnswers(options, writers, shared, lead),
    receive: createReceive(posted, shared, options),
    data: () => ({
      ...settings,
      isLeader: lead.isLeader(),
      leader: lead.leader(),
      takesAttempts: work.attempts,
    }),
    onEnd: () => {
      void options.training?.()?.end();
      shared.closeAll();
    },
    onFailure: (problem) => {
      posted.problem = problem;
    },
  });
  const endedTurns = createHeldCount(WAKE_MS, thread.wake);
  const pending = (): number => {
    const hasHeard = posted.status?.heard === thread.wakes() && endedTurns.held() === 0;
    return (posted.status?.status.pending ?? 1) + (hasHeard ? 0 : 1);
  };
  thread.wake();

  return {
    isLeader: lead.isLeader,
    // What is not a turn somebody waits for.
    wake: (turns) => (turns === undefined ? thread.wake() : endedTurns.add(turns)),
    recertify: async (moved) => {
      if (config.learn.flush !== 'scoped') return [];
      const { recertifySamples } = await import('../api/recertify-samples.ts');
      return recertifySamples(posted.samples, moved, records, options.compareBlocks);
    },
    outcomes: () => posted.samples,
    served: () => posted.status?.status.cost.serving.models ?? [],
    counts: () => (posted.status === undefined ? {} : countLearned(posted.status, lessons(), clock.now())),
    isBehind: () => pending() > 0,
    status: () => {
      return { ...describePosted(config, writers, posted), pending: pending(), ...lead.describe() };
    },
    ...createThreadCalls(thread),
    look: async () => {
      endedTurns.flush();
      await thread.finish('look');
    },
    settle: async () => {
      endedTurns.flush();
      await thread.finish('settle');
    },
    reload: async () => {
      const now = readSettings();
      if (thread.isClosed() || isDeepStrictEqual(now, settings)) return;
      settings = now;
      await thread.restart();
    },
    close: async () => {
      await thread.close();
      await lead.close();
    },
  };
}

/** Whether this process learns. When that changes, the thread goes on as what it now is. */
function openLead(
  { jobs, clock, log, lessons }: ServeLearningOptions,
  mayLead: boolean,
  thread: () => SupervisedThread,
): LearningLead {
  const lead: LearningLead = createLearningLead({
    jobs,
    mayLead,
    clock,
    log,
    onChange: async () => {
      // Others have published meanwhile.
      if (!lead.isLeader()) return thread().restart();
      await lessons()?.reload();
      // The thread goes on with the attempts that it is making.
      if (thread().side() === undefined) return;
      thread().side()?.post({ type: 'lead' });
      thread().wake();
    },
    onLook: () => thread().wake(0),
  });
  return lead;
}

/** What the thread is asked for, and answers itself. */
const createThreadCalls = (
  thread: SupervisedThread,
): Pick<ServedLearning, 'shorten' | 'practice' | 'statements' | 'recollect'> => ({
  shorten: async (prompt, limitTokens, signal) => {
    try {
      thread.sendKeys();
      return await thread.running().call('shorten', [prompt, limitTokens], signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { ok: false, why, isRetryable: true };
    }
  },
  practice: async (request, signal) => {
    thread.sendKeys();
    return thread.running().call('practice', [request], signal);
  },
  statements: async (session) => thread.running().call('statements', [session]),
  recollect: async (query) => thread.running().call('recollect', [query]),
});

/** Takes what the thread posts. */
const createReceive =
  (posted: Posted, shared: SharedAccess, { log, onWork }: Pick<ServeLearningOptions, 'log' | 'onWork'>) =>
  (message: ServingSide['posts']): void => {
    if (message.type === 'work') onWork?.(message.session, message.rules);
    else if (message.type === 'log') log[message.level](message.fields, message.message);
    else if (message.type === 'attempt-over') shared.close(message.id);
    else if (message.type === 'samples') posted.samples = message.samples;
    else {
      posted.status = message;
      posted.problem = undefined;
    }
  };

function describePosted(
  config: Config,
  writers: LearningModels,
  { status, problem }: Posted,
): Readonly<JsonObject> {
  const fault = problem === undefined ? {} : { problem };
  const judge = writers.model('judge');
  const tested = status?.status.judge;
  const writing = describeWriting({
    evolver: writers.model('evolver'),
    judge,
    isJudgeOff: tested?.weight === 0 && tested.testedModel === judge?.name,
    unusable: (['evolver', 'judge'] as const).flatMap((role) => writers.unusable(role) ?? []),
    limits: config.learn.budget,
  });
  return { ...writing, ...(status === undefined ? fault : describeLearned(status, fault)) };
}

interface ThreadPorts {
  readonly answers: CallAnswers<ServingSide['calls']>;
  readonly receive: (message: ServingSide['posts']) => void;
  /** What a thread is started with, as of now. */
  readonly data: () => Pick<LearningThreadData, 'settings' | 'isLeader' | 'leader' | 'takesAttempts'>;
  /** A thread has ended, for whatever reason. */
  readonly onEnd: () => void;
  /** It ended by itself, and is started again after a pause. */
  readonly onFailure: (problem: string) => void;
}

/** The thread that learns, started again whenever it ends: all state is folded from facts and all writes are idempotent. */
interface SupervisedThread {
  /** Undefined while it is not running. */
  side(): ThreadConnection<LearningSide> | undefined;
  /** Throws while it is not running. */
  running(): ThreadConnection<LearningSide>;
  /** See `ServedLearning.wake`. A thread that is started later reads the facts anyway. */
  wake(turns?: number): void;
  /** How often the running thread was woken. */
  wakes(): number;
  /** The keys as they are now, unless the thread has them. */
  sendKeys(): void;
  /** Resolves when the thread has done it, or has ended: its end is in the status and in the log. */
  finish(call: 'look' | 'settle' | 'drain'): Promise<void>;
  isClosed(): boolean;
  /** Starts nothing after `close`. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** How long to wait before the next start: longer each time, unless the thread ran for a while. */
function createRestartPauses(clock: Clock): (startedAt: number) => number {
  let nextMs = FIRST_PAUSE_MS;
  return (startedAt) => {
    const pauseMs = clock.monotonic() - startedAt > LONGEST_PAUSE_MS ? FIRST_PAUSE_MS : nextMs;
    nextMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
    return pauseMs;
  };
}

interface RunningThread {
  readonly worker: Worker;
  readonly side: ThreadConnection<LearningSide>;
}

function startLearningThread(
  { place, salt, embed, clock, startThread = startWorker }: ServeLearningOptions,
  ports: ThreadPorts,
  keys: readonly string[],
): RunningThread {
  const sentenceModel = { id: embed.id, dimensions: embed.dimensions };
  const worker = startThread(MODULE, {
    workerData: { place, salt, sentenceModel, keys, now: clock.now(), ...ports.data() },
    // Learning that needs more ends its thread, not the process.
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  worker.unref();
  return { worker, side: connectThread<ServingSide, LearningSide>(worker, { ...ports, ...learningErrors }) };
}

function superviseThread(options: ServeLearningOptions, ports: ThreadPorts): SupervisedThread {
  const { clock, log, keys, lessons } = options;
  let running: RunningThread | undefined;
  let again: NodeJS.Timeout | undefined;
  const pauseAfter = createRestartPauses(clock);
  let sentKeys: readonly string[] = [];
  let stopListening: (() => void) | undefined;
  let wakes = 0;
  let isClosed = false;

  const begin = (): void => {
    const startedAt = clock.monotonic();
    wakes = 0;
    sentKeys = [...keys()];
    const { worker, side } = startLearningThread(options, ports, sentKeys);
    running = { worker, side };
    const ended = (why: string): void => {
      side.end(new Error(NOT_RUNNING));
      ports.onEnd();
      if (running?.worker !== worker) return;
      running = undefined;
      if (isClosed) return;
      const restartsInMs = pauseAfter(startedAt);
      ports.onFailure(`the learning thread ended: ${why}`);
      log.error({ problem: why, restartsInMs }, 'the learning thread ended and is started again');
      again = setTimeout(begin, restartsInMs);
      again.unref();
    };
    worker.on('error', (error: Error) => ended(error.message));
    worker.on('exit', (code) => ended(`exit code ${code}`));
  };
  const sendKeys = (): void => {
    const now = keys();
    if (running === undefined || isDeepStrictEqual(now, sentKeys)) return;
    sentKeys = [...now];
    running.side.post({ type: 'keys', keys: sentKeys });
  };
  const wake = (turns?: number): void => {
    stopListening ??= lessons()?.library.onChange(() => wake());
    if (running === undefined) return;
    sendKeys();
    running.side.post({
      type: 'wake',
      now: clock.now(),
      nth: ++wakes,
      ...(turns !== undefined && { turns }),
    });
  };
  const finish: SupervisedThread['finish'] = async (call) => {
    await running?.side.call(call, []).catch(() => undefined);
  };
  begin();
  return {
    side: () => running?.side,
    running: () => {
      if (running === undefined) throw new StoreError('io', NOT_RUNNING);
      return running.side;
    },
    wake,
    wakes: () => wakes,
    sendKeys,
    finish,
    isClosed: () => isClosed,
    restart: async () => {
      const old = running;
      // Its end is expected: it is not reported, and not followed by another start.
      running = undefined;
      clearTimeout(again);
      if (old !== undefined) await stopWorker(old.worker);
      if (isClosed) return;
      begin();
      wake();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(again);
      stopListening?.();
      await finish('drain');
      if (running !== undefined) await stopWorker(running.worker);
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
    killFile: killFileBeside(storeFile),
    practice: { ...practice, budget: { ...practice.budget }, rewards: { task: 1, ...learn.identity.reward } },
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
        if (isAboutEffects(fact.fact)) lessons()?.effects.add({ seq, ...fact });
        if (fact.fact.type === 'rules-observed')
          lessons()
            ?.adherence()
            .add({ seq, ...fact });
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
      const { HEADLESS_HOME, HEADLESS_URL } = await import('../agent/attempts/headless-agent.ts');
      const { headlessSettings } = await import('../connect/headless-settings.ts');
      const place = { url: HEADLESS_URL, homeDir: HEADLESS_HOME, config };
      return headlessSettings(program, compact({ ...place, model: models.model('attempt')?.name })) ?? {};
    },
    openAttempt: async (_, order) => shared.open(order),
    attemptTurns: (_, id) => shared.turns(id),
  };
}
