import { createAttemptFolders } from '../agent/attempts/attempt-folders.ts';
import { withoutSecrets } from '../agent/attempts/attempt-parts.ts';
import { createAttempts } from '../agent/attempts/attempts.ts';
import {
  LONGEST_REPLY,
  openSessionAgents,
  queueOfSession,
  whyNotByAgent,
} from '../agent/attempts/session-agents.ts';
import { TOOL_PATH } from '../agent/sandbox/confiner.ts';
import type { AttemptAccess, AttemptPlace } from '../core/attempt-model.ts';
import type { Clock } from '../core/clock.ts';
import type { MakeAttempt } from '../core/practice.ts';
import { costOf } from '../cost/prices.ts';
import { createTaskVerifier, readAttemptSteps } from '../evidence/verifiers/verify-task.ts';
import type { PracticePorts } from '../learn/practice/open-practice.ts';
import { isRerunnable } from '../learn/practice/sources/rerunnable.ts';
import { createInProcessAttempts } from '../models/in-process-client.ts';
import { openPracticeTraining, type PracticeTrainingCalls } from '../train/open-practice-training.ts';

interface AttemptsOptions {
  /** Who attempts: `model`, or names of programs. */
  readonly agents: readonly string[];
  readonly settingsOf: (program: string) => Promise<Readonly<Record<string, string>>>;
  readonly access: (order: AttemptPlace) => Promise<AttemptAccess>;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  readonly hasSecret: (text: string) => boolean;
  readonly training: PracticeTrainingCalls;
}

/** Who attempts tasks of practice in this thread, and which tasks they can attempt on this machine now. */
export function createSessionAttempts({
  agents: names,
  ...options
}: AttemptsOptions): Pick<PracticePorts, 'openAttempts' | 'whyNotAttempted'> {
  const { clock, onFault } = options;
  const folders = createAttemptFolders();
  return {
    whyNotAttempted: async (task) => {
      const able = await isRerunnable(task, TOOL_PATH);
      return able.ok ? whyNotByAgent(task, names) : able.why;
    },
    openAttempts: async ({ name, price, chat }, budget, ask, signal) => {
      const priced = (usage: Parameters<typeof costOf>[0]) => costOf(usage, price);
      const training = await openPracticeTraining(name, options.training, signal);
      const isTrained = typeof training === 'object';
      const policy = isTrained ? training.agents : undefined;
      const served = createInProcessAttempts({
        ...{ chat, name, model: name, maxTokens: LONGEST_REPLY, costOf: priced },
      });
      const open = policy?.get('newest') ?? served;
      const agentParts = { ...options, open, costOf: priced, search: process.env.PATH ?? '' };
      const versions = [...(policy ?? [])].map(
        ([agent, by]) => [agent, { kind: 'model', open: by }] as const,
      );
      const make = createAttempts({
        agents: new Map([...(await openSessionAgents(names, agentParts)), ...versions]),
        folders,
        verify: createTaskVerifier(ask === undefined ? {} : { ask }),
        readSteps: readAttemptSteps,
        clock,
        onFault,
      });
      const provider = name.split('/', 1)[0] ?? name;
      const within = isTrained ? training.within(budget) : budget;
      const queued = { make: withoutSecrets(make, options.hasSecret), names, clock, provider };
      const queue = queueOfSession({ ...queued, budget: within, costOf: priced });
      const isModel = names.every((one) => one === 'model');
      const attempts = { agent: isModel ? name : `${names.join('+')} with ${name}`, make: queue };
      if (!isTrained) return { ...attempts, ...(training === undefined ? {} : { untrained: training }) };
      const serving: MakeAttempt = (order, stop) => queue({ ...order, agent: 'live' }, stop);
      return { ...attempts, temperature: 1, serving, training, close: training.close };
    },
  };
}
