import { type AttemptFolders, createAttemptFolders } from '../../../src/agent/attempts/attempt-folders.ts';
import { type AttemptsParts, createAttempts } from '../../../src/agent/attempts/attempts.ts';
import type { AttemptModel } from '../../../src/core/attempt-model.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { GatewayClient, GatewayReply } from '../../../src/core/gateway-client.ts';
import type { AttemptOrder, MakeAttempt, PracticeTask } from '../../../src/core/practice.ts';
import { createTaskVerifier, readAttemptSteps } from '../../../src/evidence/verifiers/verify-task.ts';

const taskOf = (more: Partial<PracticeTask> = {}): PracticeTask => ({
  id: 'task-1',
  root: 'task-1',
  origin: 'curated',
  prompt: 'What is 6 times 7?',
  domain: 'sums',
  ...more,
});

export const orderOf = (
  task: Partial<PracticeTask> = {},
  more: Partial<AttemptOrder> = {},
): AttemptOrder => ({
  id: 'run-1/task-1/0',
  task: taskOf(task),
  shown: { text: '', lessons: [], generation: 3 },
  seed: 'seed-1',
  temperature: 0.7,
  timeoutMs: 60_000,
  ...more,
});

const modelOf = (speak: GatewayClient, more: Partial<AttemptModel> = {}): AttemptModel => ({
  name: 'fake/fake-model',
  model: 'fake-model',
  speak,
  close: async () => undefined,
  ...more,
});

/** Says each of these in turn; commands are calls of the agent's tool. */
export function scriptOf(
  ...said: readonly (string | { readonly commands: readonly string[] })[]
): GatewayClient {
  let at = 0;
  return async (): Promise<GatewayReply> => {
    const one = said[Math.min(at++, said.length - 1)] ?? '';
    const usage = { inputTokens: 100, outputTokens: 10 };
    if (typeof one === 'string') return { text: one, calls: [], lessons: [], usage };
    const calls = one.commands.map((command, index) => ({
      type: 'tool-call' as const,
      id: `c${at}_${index}`,
      name: 'run_command',
      arguments: JSON.stringify({ command }),
    }));
    return { text: '', calls, lessons: [], usage };
  };
}

export interface Made {
  readonly make: MakeAttempt;
  readonly folders: AttemptFolders;
}

export function attemptsWith(speak: GatewayClient, more: Partial<AttemptsParts> = {}): Made {
  const folders = createAttemptFolders();
  const make = createAttempts({
    agents: new Map([['own', { kind: 'model', open: async () => modelOf(speak) }]]),
    folders,
    verify: createTaskVerifier({}),
    readSteps: readAttemptSteps,
    clock: systemClock,
    ...more,
  });
  return { make, folders };
}
