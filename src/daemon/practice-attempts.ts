import { createAttemptFolders } from '../agent/attempts/attempt-folders.ts';
import { withoutSecrets } from '../agent/attempts/attempt-parts.ts';
import { createAttemptQueue } from '../agent/attempts/attempt-queue.ts';
import { createAttempts, whyNotHere } from '../agent/attempts/attempts.ts';
import { TOOL_PATH } from '../agent/sandbox/confiner.ts';
import { confinementHere } from '../agent/sandbox/find-confiner.ts';
import type { Clock } from '../core/clock.ts';
import type { MakeAttempt, PracticeTask } from '../core/practice.ts';
import { costOf } from '../cost/prices.ts';
import { createTaskVerifier, readAttemptSteps } from '../evidence/verifiers/verify-task.ts';
import type { PracticePorts } from '../learn/practice/open-practice.ts';
import { isRerunnable } from '../learn/practice/sources/rerunnable.ts';
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

/** Why a task cannot be attempted here: its project or a program is gone, or its check is a command that cannot be confined. */
export async function whyNotAttempted(task: PracticeTask): Promise<string | undefined> {
  const able = await isRerunnable(task, TOOL_PATH);
  if (!able.ok) return able.why;
  return task.check?.kind === 'command' ? whyNotHere(task, 'model', await confinementHere()) : undefined;
}

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
