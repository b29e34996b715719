import { createAttemptFolders } from '../agent/attempts/attempt-folders.ts';
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
import { costOf } from '../cost/prices.ts';
import { createTaskVerifier, readAttemptSteps } from '../evidence/verifiers/verify-task.ts';
import type { PracticePorts } from '../learn/practice/open-practice.ts';
import { isRerunnable } from '../learn/practice/sources/rerunnable.ts';
import { createInProcessAttempts } from '../models/in-process-client.ts';

interface AttemptsOptions {
  /** Who attempts: `model`, or names of programs. */
  readonly agents: readonly string[];
  readonly settingsOf: (program: string) => Promise<Readonly<Record<string, string>>>;
  readonly access: (order: AttemptPlace) => Promise<AttemptAccess>;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
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
    openAttempts: async ({ name, price, chat }, budget, ask) => {
      const priced = (usage: Parameters<typeof costOf>[0]) => costOf(usage, price);
      const model = { chat, name, model: name, maxTokens: LONGEST_REPLY, costOf: priced };
      const open = createInProcessAttempts(model);
      const agentParts = { ...options, open, costOf: priced, search: process.env.PATH ?? '' };
      const make = createAttempts({
        agents: await openSessionAgents(names, agentParts),
        folders,
        verify: createTaskVerifier(ask === undefined ? {} : { ask }),
        readSteps: readAttemptSteps,
        clock,
        onFault,
      });
      const provider = name.split('/', 1)[0] ?? name;
      const queue = queueOfSession({ make, names, clock, provider, budget, costOf: priced });
      const isModel = names.every((one) => one === 'model');
      return { agent: isModel ? name : `${names.join('+')} with ${name}`, make: queue };
    },
  };
}
