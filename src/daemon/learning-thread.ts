import { parentPort, workerData } from 'node:worker_threads';
import { createIds } from '../base/ids.ts';
import { lowerThreadPriority } from '../base/lower-thread-priority.ts';
import { connectThread, createPostedLog } from '../base/worker-thread.ts';
import { createFollowingClock } from '../core/clock.ts';
import { createTrainingBuffer, SAMPLE_CAP, type TrainingOutcome } from '../evidence/training-buffer.ts';
import { openThreadJobs } from '../jobs/thread-jobs.ts';
import { createStandby, type LearningPorts, type LearningWorker } from '../learn/learning-ports.ts';
import { startLearningWorker } from '../learn/learning-worker.ts';
import { createRecollect } from '../learn/recollect/recollect.ts';
import { openLastingReads } from '../record/open-store.ts';
import { createTurnDecoder, readStoredTurn } from '../record/stored-turn.ts';
import { createRedactor } from '../redact/redact.ts';
import { openLearningAttempts } from './learning-attempts.ts';
import {
  type LearningSide,
  type LearningThreadData,
  learningErrors,
  type ServingSide,
} from './learning-messages.ts';

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

const log = createPostedLog((line) => serving.post({ type: 'log', ...line }));
const store = openLastingReads(place);
const buffer = createTrainingBuffer({ cap: SAMPLE_CAP });
let sent: readonly TrainingOutcome[] | undefined;
const sendSamples = (): void => {
  const samples = buffer.outcomes();
  if (samples !== sent) serving.post({ type: 'samples', samples });
  sent = samples;
};

const embed: LearningPorts['embed'] = (texts) => serving.call('embed', [texts]);
const { hasSecret } = createRedactor({ known: () => keys, salt });
/** The turns of one query are of different sessions, which share no blocks. */
const recollect = createRecollect({
  records: store,
  decode: (view) => readStoredTurn(view, store, new Map()),
  hasSecret,
  clock,
  model: { ...sentenceModel, embed },
});
let isReady = !given.isLeader;
const newId = createIds(clock);
const chat = (...[role, request, signal]: Parameters<LearningPorts['chat']>) =>
  serving.call('chat', [role, request], signal);
const jobs = openThreadJobs({ place, clock, newId, log });
const attempts = openLearningAttempts({ serving, settings, chat, hasSecret, jobs, clock, log });
const startLearner = (): Promise<LearningWorker> =>
  startLearningWorker(settings, {
    records: { ...store, append: (facts, blocks) => serving.call('append', [facts, blocks]) },
    decoder: () => createTurnDecoder(store),
    publish: (set) => {
      sendSamples();
      return serving.call('publish', [set]);
    },
    model: (role) => serving.call('model', [role]),
    chat,
    embed,
    sentenceModel,
    embedKept: (texts) => serving.call('embedKept', [texts]),
    hasSecret,
    practice: attempts.practice,
    openSandbox: attempts.openSandbox,
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
if (given.takesAttempts) attempts.take();
if (given.isLeader) lead();
/** From now on this thread learns. A session of its own makes attempts here in any case: there may be no other process. */
function lead(): void {
  isReady = false;
  attempts.take();
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
