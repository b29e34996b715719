import { undefinedIfAborted } from '../base/until-aborted.ts';
import type { ChatMessage, ChatRequest, TextPart, ToolCallPart, Usage } from '../core/chat.ts';
import { createFailure, errorMessage, type Failure } from '../core/failure.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../core/gateway-client.ts';
import { compact, isObject, parseJson } from '../core/json.ts';
import { AGENT_GUIDANCE } from './prompts.ts';
import type { Shell } from './shell.ts';
import { type AgentCommand, createCommandTool, runToolCalls } from './tool-calls.ts';

/**
 * The conversation with the user's next prompt. After a prompt without a reply it is appended to the same message, since many
 * servers reject two user messages in a row.
 */
function withPrompt(history: readonly ChatMessage[], prompt: string): readonly ChatMessage[] {
  const part: TextPart = { type: 'text', text: prompt };
  const last = history.at(-1);
  if (last?.role !== 'user') return [...history, { role: 'user', content: [part] }];
  return [...history.slice(0, -1), { role: 'user', content: [...last.content, part] }];
}

/**
 * A reply as a message that every wire accepts; undefined for an empty reply. `calls` are those of `toLastingCalls`.
 */
function toAssistantMessage(text: string, calls: readonly ToolCallPart[]): ChatMessage | undefined {
  const parts: readonly TextPart[] = text === '' ? [] : [{ type: 'text', text }];
  return parts.length + calls.length === 0 ? undefined : { role: 'assistant', content: [...parts, ...calls] };
}

/**
 * The tool calls of one reply as they are kept in the conversation. Each has a unique id, a valid tool name and an object as
 * its arguments. Models violate this, and servers would then reject every later request.
 */
function toReplayableCalls(
  calls: readonly ToolCallPart[],
  messages: readonly ChatMessage[],
): readonly ToolCallPart[] {
  const taken = new Set(messages.flatMap(idsIn));
  return calls.map((call) => {
    const id = freeId(call.id, taken);
    taken.add(plain(id));
    return {
      type: 'tool-call',
      id,
      name: plain(call.name).slice(0, 64) || 'unnamed',
      arguments: replayableArguments(call),
    };
  });
}

const idsIn = (message: ChatMessage): readonly string[] =>
  message.role === 'assistant'
    ? message.content.flatMap((part) => (part.type === 'tool-call' ? [plain(part.id)] : []))
    : [];

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = wanted === '' ? 'call' : wanted;
  let id = base;
  for (let nth = 2; taken.has(plain(id)); nth++) id = `${base}_${nth}`;
  return id;
}

/** With only the characters that every wire allows. */
const plain = (text: string): string => text.replace(/[^\w-]/g, '_');

const replayableArguments = ({ arguments: text }: ToolCallPart): string =>
  isObject(parseJson(text))
    ? text
    : text.trim() === ''
      ? '{}'
      : JSON.stringify({ malformed_arguments: text });

/** The sum of all counts. A count that no turn has stays absent, except for input and output tokens. */
function sumUsage(turns: readonly { readonly usage?: Usage }[]): Usage {
  const given = turns.flatMap(({ usage }) => usage ?? []);
  const sum = (name: keyof Usage): number | undefined => {
    const counts = given.flatMap((usage) => usage[name] ?? []);
    return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
  };
  return compact({
    inputTokens: sum('inputTokens') ?? 0,
    outputTokens: sum('outputTokens') ?? 0,
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    reasoningTokens: sum('reasoningTokens'),
  });
}

interface AgentLimits {
  /** The number of replies of the model. */
  readonly steps: number;
  /** How much of a command's output the model gets. */
  readonly outputCharacters: number;
  /** The limit of one reply. */
  readonly maxTokens?: number;
  readonly temperature?: number;
}

export interface AgentTask {
  readonly speak: GatewayClient;
  /** `isLast` is passed on with the last step that the limit allows only, since until then another step may follow. */
  readonly speaker: CallerIdentity;
  readonly model: string;
  /** The system prompt; the agent's guidance is appended to it. */
  readonly system: string;
  /** The conversation so far: `messages` of the previous task, or nothing. */
  readonly history: readonly ChatMessage[];
  /** The user's next message. */
  readonly prompt: string;
  /** What runs the commands of `run_command`; undefined: the task needs a reply only, and the model is offered no tool. */
  readonly shell: Shell | undefined;
  /** 20 steps and 8,000 characters by default. */
  readonly limits?: Partial<AgentLimits>;
  readonly signal: AbortSignal;
}

/**
 * How a task ended. `answered`: with a reply without tool calls. `done`: by the command of that name. `steps`: the limit of
 * steps was reached. `failed`: the model did not reply. `aborted`: by the signal.
 */
export type AgentEnd = 'answered' | 'done' | 'steps' | 'failed' | 'aborted';

interface AgentRun {
  /** The history and this task; valid as the history of the next task, since every tool call has its result. */
  readonly messages: readonly ChatMessage[];
  /** The model's last text in this task; empty when there is none. */
  readonly answer: string;
  readonly commands: readonly AgentCommand[];
  /** The number of complete replies of the model. */
  readonly steps: number;
  readonly end: AgentEnd;
  /** The reply of each step with the gateway's turn id, including a reply that failed. */
  readonly turns: readonly GatewayReply[];
  /** The sum over all turns. */
  readonly usage: Usage;
  readonly failure?: Failure;
}

const DEFAULT_AGENT_LIMITS: AgentLimits = { steps: 20, outputCharacters: 8000 };

/** Works on one task: asks the model and runs its tool calls until the task ends. Never rejects; an abort ends it at once. */
export async function runAgent(task: AgentTask): Promise<AgentRun> {
  const { history, prompt, shell, signal } = task;
  const limits: AgentLimits = { ...DEFAULT_AGENT_LIMITS, ...task.limits };
  const messages = [...withPrompt(history, prompt)];
  const commands: AgentCommand[] = [];
  const turns: GatewayReply[] = [];
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
    const kept = toReplayableCalls(said.calls, messages);
    const reply = toAssistantMessage(said.text, kept);
    if (reply !== undefined) messages.push(reply);
    if (kept.length === 0 || shell === undefined) return over('answered');
    const calls = kept.map((call, index) => ({ made: said.calls[index] ?? call, kept: call }));
    const answered = await runToolCalls(calls, shell, limits.outputCharacters, signal);
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
  const texts = [system.trimEnd(), ...(shell === undefined ? [] : [AGENT_GUIDANCE])].filter(
    (one) => one !== '',
  );
  return {
    model,
    system: texts.length === 0 ? [] : [{ type: 'text', text: texts.join('\n\n') }],
    messages: [...messages],
    tools: shell === undefined ? [] : [createCommandTool(shell.about)],
    stream: false,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** A `Speak` must not reject; if it does, that is a failure like any other. */
async function askModel(
  { speak, signal }: AgentTask,
  request: ChatRequest,
  speaker: CallerIdentity,
): Promise<GatewayReply> {
  try {
    return await speak(request, speaker, signal);
  } catch (error) {
    const message = errorMessage(error);
    return { text: '', calls: [], lessons: [], failure: createFailure('internal', message) };
  }
}
