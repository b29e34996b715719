import { createAttemptFolders } from '../agent/attempts/attempt-folders.ts';
import { createAttemptQueue } from '../agent/attempts/attempt-queue.ts';
import { createAttempts } from '../agent/attempts/attempts.ts';
import type { Clock } from '../core/clock.ts';
import type { MakeAttempt } from '../core/practice.ts';
import { costOf } from '../cost/prices.ts';
import { createTaskVerifier, readAttemptSteps } from '../evidence/verifiers/verify-task.ts';
import type { PracticePorts } from '../learn/practice/open-practice.ts';
import { createInProcessAttempts } from '../models/in-process-client.ts';
import { openPracticeTraining, type PracticeTrainingCalls } from '../train/open-practice-training.ts';

interface AttemptsOptions {
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  readonly hasSecret: (text: string) => boolean;
  readonly training: PracticeTrainingCalls;
}

/** The longest reply, and what is reserved for the prompts of one attempt: an attempt in a folder asks several times. */
const MOST_REPLY = 4096;
const MOST_PROMPT = { words: 16_000, folder: 160_000 };

/** Who attempts tasks of practice in this thread: the model, in words or with our agent's tools in a confined folder. */
export function createSessionAttempts(options: AttemptsOptions): PracticePorts['openAttempts'] {
  const { clock, onFault } = options;
  const folders = createAttemptFolders();
  return async ({ name, price, chat }, budget, ask, signal) => {
    const open = createInProcessAttempts({
      chat,
      name,
      model: name,
      maxTokens: MOST_REPLY,
      costOf: (usage) => costOf(usage, price),
    });
    const training = await openPracticeTraining(name, options.training, signal);
    const isTrained = typeof training === 'object';
    const models = isTrained ? training.agents : new Map([['model', open]]);
    const make = createAttempts({
      agents: new Map([...models].map(([agent, by]) => [agent, { kind: 'model', open: by }])),
      folders,
      verify: createTaskVerifier(ask === undefined ? {} : { ask }),
      readSteps: readAttemptSteps,
      clock,
      onFault,
    });
    const queue = createAttemptQueue({
      make: withoutSecrets(make, options.hasSecret),
      clock,
      provider: () => name.split('/', 1)[0] ?? name,
      budget,
      most: ({ task, timeoutMs }) => {
        const inputTokens = task.workspace === undefined ? MOST_PROMPT.words : MOST_PROMPT.folder;
        const { usd, unpriced } = costOf({ inputTokens, outputTokens: MOST_REPLY }, price);
        return { calls: 1, tokens: inputTokens + MOST_REPLY, usd, unpriced, ms: timeoutMs };
      },
    });
    const attempts = { agent: name, make: queue.make };
    if (!isTrained) return { ...attempts, ...(training === undefined ? {} : { untrained: training }) };
    const serving: MakeAttempt = (order, stop) => queue.make({ ...order, agent: 'live' }, stop);
    return { ...attempts, temperature: 1, serving, training, close: training.close };
  };
}

/** Token ids are text to whoever has the vocabulary: those of an attempt that met a secret are not kept. */
const withoutSecrets =
  (make: MakeAttempt, hasSecret: (text: string) => boolean): MakeAttempt =>
  async (order, signal) => {
    const { sampled, ...attempt } = await make(order, signal);
    const isKept = sampled !== undefined && !hasSecret(JSON.stringify([order.task, order.shown, attempt]));
    return isKept ? { ...attempt, sampled } : attempt;
  };
