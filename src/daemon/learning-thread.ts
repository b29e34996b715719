import { parentPort, workerData } from 'node:worker_threads';
import { createRemoteAccess } from '../api/shared-access.ts';
import { createIds } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { lowerThreadPriority } from '../base/lower-thread-priority.ts';
import { connectThread } from '../base/worker-thread.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { createTrainingBuffer, SAMPLE_CAP, type TrainingOutcome } from '../evidence/training-buffer.ts';
import { openThreadJobs } from '../jobs/thread-jobs.ts';
import { chatOfRole } from '../learn/asked-models.ts';
import { createStandby, type LearningPorts, type LearningWorker } from '../learn/learning-ports.ts';
import { startLearningWorker } from '../learn/learning-worker.ts';
import { createRecollect } from '../learn/recollect/recollect.ts';
import { openLastingReads } from '../record/open-store.ts';
import type { BlockCache } from '../record/request-manifest.ts';
import { readStoredTurn } from '../record/stored-turn.ts';
import { createRedactor } from '../redact/redact.ts';
import {
  type LearningSide,
  type LearningThreadData,
  learningErrors,
  type ServingSide,
} from './learning-messages.ts';
import { sendPracticeCalls } from './practice-training-messages.ts';

/*
 * The thread that learns: it reads the record on its own connection, appraises, verifies, judges, learns and gates. The
 * serving thread writes, publishes, calls models and embeds for it.
 */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
lowerThreadPriority();
const { place, salt, settings, sentenceModel, ...given } = workerData as LearningThreadData;
let keys = given.keys;
const clock = createFollowingClock(given.now);
let isStopping = false;
let heard = 0;

const serving = connectThread<LearningSide, ServingSide>(port, {
  answers: {
    settle: async () => (await worker).settle(),
    look: async () => (await worker).look(),
    statements: async (_, session) => (await worker).statements(session),
    recollect: (_, query) => recollect(query),
    shorten: async (signal, prompt, limitTokens) => (await worker).shorten(prompt, limitTokens, signal),
    practice: async (signal, request) => (await worker).practice.command(request, signal),
    drain: async () => jobs?.drain(),
  },
  receive: (message) => {
    if (message.type === 'keys') keys = message.keys;
    else if (message.type === 'lead') lead();
    else {
      clock.set(message.now);
      withWorker(({ wake }) => {
        wake(message.turns);
        heard = message.nth;
      });
    }
  },
  stop: () => {
    isStopping = true;
    // A start that is under way fails at its next read.
    if (!isReady) store.close();
    void withWorker(({ close }) => close()).finally(async () => {
      await jobs?.close();
      store.close();
      port.close();
    });
  },
  ...learningErrors,
});

const log: Log = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
const store = openLastingReads(place);
const buffer = createTrainingBuffer({ cap: SAMPLE_CAP });
let sent: readonly TrainingOutcome[] | undefined;
const sendSamples = (): void => {
  const samples = buffer.outcomes();
  if (samples !== sent) serving.post({ type: 'samples', samples });
  sent = samples;
};

const embed: LearningPorts['embed'] = (texts) => serving.call('embed', [texts]);
const redactor = createRedactor({ known: () => keys, salt });
/** The turns of one query are of different sessions, which share no blocks. */
const recollect = createRecollect({
  records: store,
  decode: (view) => readStoredTurn(view, store, new Map()),
  hasSecret: redactor.hasSecret,
  clock,
  model: { ...sentenceModel, embed },
});
let isReady = false;
const newId = createIds(clock);
const chat = (...[role, request, signal]: Parameters<LearningPorts['chat']>) =>
  serving.call('chat', [role, request], signal);
const jobs = openThreadJobs({ place, clock, newId, log });
/** Its code is loaded when the first attempt or slow check is due. */
const openAttempts = async () => {
  const { createSessionAttempts } = await import('./practice-attempts.ts');
  return createSessionAttempts({
    agents: [settings.practice?.agent ?? 'model'].flat(),
    settingsOf: (program) => serving.call('programSettings', [program]),
    access: createRemoteAccess({
      open: (order) => serving.call('openAttempt', [order]),
      turns: (id) => serving.call('attemptTurns', [id]),
      close: (id) => serving.post({ type: 'attempt-over', id }),
    }),
    clock,
    hasSecret: redactor.hasSecret,
    training: sendPracticeCalls((call) => serving.call('training', [call])),
    onFault: (error) => log.warn({ err: error }, 'practice: something could not be removed'),
    ...(jobs === undefined ? {} : { share: jobs.share }),
  });
};
let opened: ReturnType<typeof openAttempts> | undefined;
const attempts = (): ReturnType<typeof openAttempts> => {
  opened ??= openAttempts();
  return opened;
};
const takeAttempts = (): void =>
  jobs?.takeAttempts({
    model: async () => {
      const model = await serving.call('model', ['attempt']);
      if (model === undefined) return undefined;
      const { attemptOnce } = await attempts();
      return { name: model.name, make: attemptOnce({ ...model, chat: chatOfRole('attempt', chat) }) };
    },
    whyNot: async ({ task }) => (await attempts()).whyNotAttempted(task),
  });
const startLearner = (): Promise<LearningWorker> =>
  startLearningWorker(settings, {
    records: { ...store, append: (facts, blocks) => serving.call('append', [facts, blocks]) },
    decoder: () => {
      const known: BlockCache = new Map();
      return (view) => readStoredTurn(view, store, known);
    },
    publish: (set) => {
      sendSamples();
      return serving.call('publish', [set]);
    },
    model: (role) => serving.call('model', [role]),
    chat,
    embed,
    sentenceModel,
    embedKept: (texts) => serving.call('embedKept', [texts]),
    hasSecret: redactor.hasSecret,
    practice: {
      lessonsFor: (query, force) => serving.call('lessonsFor', [query, force]),
      whyNotAttempted: async (task) => (await attempts()).whyNotAttempted(task),
      openAttempts: async (...order) => (await attempts()).openAttempts(...order),
    },
    openSandbox: async (...order) => (await attempts()).openSandbox(...order),
    isShared: jobs !== undefined,
    openBudget: jobs?.openBudget,
    buffer,
    onStatus: (status) => {
      sendSamples();
      serving.post({ type: 'status', heard, status, buffer: buffer.counts() });
    },
    onWork: (session, rules) => serving.post({ type: 'work', session, rules }),
    clock,
    newId,
    log,
  });
let worker: Promise<LearningWorker> = Promise.resolve(createStandby(() => given.leader));
if (given.takesAttempts) takeAttempts();
if (given.isLeader) lead();
else isReady = true;
/** From now on this thread learns. A session of its own makes attempts here in any case: there may be no other process. */
function lead(): void {
  isReady = false;
  takeAttempts();
  worker = startLearner();
  worker.then(
    () => {
      isReady = true;
    },
    (error: unknown) => {
      // Ends the thread with this error: the serving thread reports it and starts another one.
      if (!isStopping)
        setImmediate(() => {
          throw error;
        });
    },
  );
}

/** Nothing is done when it could not start. */
async function withWorker(use: (started: LearningWorker) => unknown): Promise<void> {
  const started = await worker.catch(() => undefined);
  if (started !== undefined) await use(started);
}

function logAt(level: keyof Log) {
  return (fields: object | string, message = ''): void => {
    const line = typeof fields === 'string' ? { fields: {}, message: fields } : { fields, message };
    try {
      serving.post({ type: 'log', level, ...line });
    } catch {
      // A field that cannot be passed to another thread.
      serving.post({ type: 'log', level, fields: {}, message: line.message });
    }
  };
}

/** The time of another thread: as it said last, and by the monotonic clock since. Setting the wall clock changes nothing here. */
function createFollowingClock(first: number): Clock & { set(now: number): void } {
  const { monotonic } = systemClock;
  let start = { now: first, mono: monotonic() };
  return {
    monotonic,
    now: () => Math.round(start.now + monotonic() - start.mono),
    set: (now) => {
      start = { now, mono: monotonic() };
    },
  };
}
