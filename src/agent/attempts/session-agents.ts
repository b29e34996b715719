import { createHash } from 'node:crypto';
import type { AttemptAccess, OpenAttemptModel } from '../../core/attempt-model.ts';
import type { Budget, Spending } from '../../core/budget.ts';
import type { Usage } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import type { AttemptOrder, MakeAttempt, PracticeTask } from '../../core/practice.ts';
import { confinementHere } from '../sandbox/find-confiner.ts';
import { createAttemptQueue } from './attempt-queue.ts';
import { type PracticeAgent, whyNotHere } from './attempts.ts';
import { createHeadlessAgent, whyNotByProgram } from './headless-agent.ts';
import { findHeadlessProgram } from './headless-programs.ts';

/** The agent that is the model itself, in words or with our agent's tools. All others are programs. */
const MODEL = 'model';

interface SessionAgentsParts {
  readonly open: OpenAttemptModel;
  /** A program's settings for the gateway, by path in its home. Rejects with what to change in the config. */
  readonly settingsOf: (program: string) => Promise<Readonly<Record<string, string>>>;
  readonly access: (order: AttemptOrder) => Promise<AttemptAccess>;
  readonly costOf: (usage: Usage) => Pick<Spending, 'usd' | 'unpriced'>;
  readonly clock: Clock;
  /** Where programs are looked for. */
  readonly search: string;
}

/** The agents of a session by name. Rejects with the fix when a program is not installed. */
export async function openSessionAgents(
  names: readonly string[],
  { open, settingsOf, access, costOf, clock, search }: SessionAgentsParts,
): Promise<ReadonlyMap<string, PracticeAgent>> {
  const agents = new Map<string, PracticeAgent>();
  for (const name of names) {
    if (name === MODEL) {
      agents.set(name, { kind: 'model', open });
      continue;
    }
    const program = await findHeadlessProgram(name, search);
    if (program === undefined)
      throw new Error(`${name} is not in PATH: install it, or take it out of practice.agent`);
    const settings = await settingsOf(name);
    agents.set(name, createHeadlessAgent({ program, open: access, settings, clock, costOf }));
  }
  return agents;
}

/**
 * The agent of a task: the same for all attempts at it, with and without a lesson, so that what is compared differs in nothing
 * else. A task that cannot be given to a program is the model's, where the model is one of the agents.
 */
export function agentOf(task: PracticeTask, names: readonly string[]): string {
  if (names.includes(MODEL) && whyNotByProgram(task) !== undefined) return MODEL;
  const place = createHash('sha256').update(`agent\n${task.root}`).digest().readUInt32BE(0);
  return names[place % names.length] ?? MODEL;
}

/** The longest reply in tokens, and what is reserved for the prompts of one attempt: one in a folder asks several times. */
export const LONGEST_REPLY = 4096;
const MOST_PROMPT = { words: 16_000, folder: 160_000 };

interface SessionQueueParts {
  readonly make: MakeAttempt;
  readonly names: readonly string[];
  readonly clock: Clock;
  /** Of the model, which programs use, too. */
  readonly provider: string;
  readonly budget: Budget;
  readonly costOf: SessionAgentsParts['costOf'];
}

/** Makes the attempts of a session within its budget, each by the agent of its task. */
export function queueOfSession(parts: SessionQueueParts): MakeAttempt {
  const { make, names, clock, provider, budget, costOf } = parts;
  const queue = createAttemptQueue({
    make: (order, signal) => make({ agent: agentOf(order.task, names), ...order }, signal),
    clock,
    provider: () => provider,
    budget,
    most: ({ task, timeoutMs }) => {
      const isInWords = task.workspace === undefined && agentOf(task, names) === MODEL;
      const inputTokens = isInWords ? MOST_PROMPT.words : MOST_PROMPT.folder;
      const { usd, unpriced } = costOf({ inputTokens, outputTokens: LONGEST_REPLY });
      return { calls: 1, tokens: inputTokens + LONGEST_REPLY, usd, unpriced, ms: timeoutMs };
    },
  });
  return queue.make;
}

/** Why a task cannot be attempted by its agent on this machine; undefined when it can. */
export async function whyNotByAgent(
  task: PracticeTask,
  names: readonly string[],
): Promise<string | undefined> {
  const isProgram = agentOf(task, names) !== MODEL;
  const why = isProgram ? whyNotByProgram(task) : undefined;
  if (why !== undefined || (!isProgram && task.check?.kind !== 'command')) return why;
  return whyNotHere(task, isProgram ? 'program' : 'model', await confinementHere());
}
