import { undefinedIfAborted } from '../base/until-aborted.ts';
import type { ChatMessage, ChatRequest, Usage } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import type { Said, Speak, Speaker } from '../core/speak.ts';
import { answerCalls, type CommandRun } from './answer-calls.ts';
import { createCommandTool } from './command-call.ts';
import { toLastingCalls, toReply, withPrompt } from './conversation.ts';
import { GUIDANCE } from './guidance.ts';
import type { Shell } from './shell.ts';
import { sumUsage } from './sum-usage.ts';

export interface AgentLimits {
  /** The number of replies of the model. */
  readonly steps: number;
  /** How much of a command's output the model gets. */
  readonly outputCharacters: number;
  /** The limit of one reply. */
  readonly maxTokens?: number;
  readonly temperature?: number;
}

export interface AgentTask {
  readonly speak: Speak;
  /** `isLast` is passed on with the last step that the limit allows only, since until then another step may follow. */
  readonly speaker: Speaker;
  readonly model: string;
  /** The system prompt; the agent's guidance is appended to it. */
  readonly system: string;
  /** The conversation so far: `messages` of the previous task, or nothing. */
  readonly history: readonly ChatMessage[];
  /** The user's next message. */
  readonly prompt: string;
  /** What runs the commands of `run_command`. */
  readonly shell: Shell;
  /** 20 steps and 8,000 characters by default. */
  readonly limits?: Partial<AgentLimits>;
  readonly signal: AbortSignal;
}

/**
 * How a task ended. `answered`: with a reply without tool calls. `done`: by the command of that name. `steps`: the limit of
 * steps was reached. `failed`: the model did not reply. `aborted`: by the signal.
 */
export type AgentEnd = 'answered' | 'done' | 'steps' | 'failed' | 'aborted';

export interface AgentRun {
  /** The history and this task; valid as the history of the next task, since every tool call has its result. */
  readonly messages: readonly ChatMessage[];
  /** The model's last text in this task; empty when there is none. */
  readonly answer: string;
  readonly commands: readonly CommandRun[];
  /** The number of complete replies of the model. */
  readonly steps: number;
  readonly end: AgentEnd;
  /** The reply of each step with the gateway's turn id, including a reply that failed. */
  readonly turns: readonly Said[];
  /** The sum over all turns. */
  readonly usage: Usage;
  readonly failure?: Failure;
}

const DEFAULT_LIMITS: AgentLimits = { steps: 20, outputCharacters: 8000 };

/** Works on one task: asks the model and runs its tool calls until the task ends. Never rejects; an abort ends it at once. */
export async function runAgent(task: AgentTask): Promise<AgentRun> {
  const { history, prompt, shell, signal } = task;
  const limits: AgentLimits = { ...DEFAULT_LIMITS, ...task.limits };
  const messages = [...withPrompt(history, prompt)];
  const commands: CommandRun[] = [];
  const turns: Said[] = [];
  let answer = '';
  let steps = 0;
  const over = (end: AgentEnd, failure?: Failure): AgentRun => ({
    messages,
    answer,
    commands,
    steps,
    end,
    turns,
    usage: sumUsage(turns),
    ...(failure === undefined ? {} : { failure }),
  });

  while (steps < limits.steps) {
    const isLast = task.speaker.isLast === true && steps + 1 === limits.steps;
    const said = await undefinedIfAborted(
      () => askModel(task, createRequest(task, limits, messages), { ...task.speaker, isLast }),
      signal,
    );
    if (said !== undefined) turns.push(said);
    if (said === undefined || signal.aborted) return over('aborted');
    if (said.failure !== undefined) return over('failed', said.failure);
    steps++;
    if (said.text !== '') answer = said.text;
    const kept = toLastingCalls(said.calls, messages);
    const reply = toReply(said.text, kept);
    if (reply !== undefined) messages.push(reply);
    if (kept.length === 0) return over('answered');
    const calls = kept.map((call, index) => ({ made: said.calls[index] ?? call, kept: call }));
    const answered = await answerCalls(calls, shell, limits.outputCharacters, signal);
    messages.push(...answered.results);
    commands.push(...answered.commands);
    if (answered.end !== undefined) return over(answered.end);
  }
  return over(signal.aborted ? 'aborted' : 'steps');
}

function createRequest(
  { model, system, shell }: AgentTask,
  { maxTokens, temperature }: AgentLimits,
  messages: readonly ChatMessage[],
): ChatRequest {
  const text = system.trim() === '' ? GUIDANCE : `${system.trimEnd()}\n\n${GUIDANCE}`;
  return {
    model,
    system: [{ type: 'text', text }],
    messages: [...messages],
    tools: [createCommandTool(shell.about)],
    stream: false,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** A `Speak` must not reject; if it does, that is a failure like any other. */
async function askModel({ speak, signal }: AgentTask, request: ChatRequest, speaker: Speaker): Promise<Said> {
  try {
    return await speak(request, speaker, signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { text: '', calls: [], lessons: [], failure: createFailure('internal', message) };
  }
}
