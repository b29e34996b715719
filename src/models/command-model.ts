import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AssistantPart,
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ReplyFormat,
  UserPart,
} from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { createAbortedFailure, createChatEvents } from './chat-events.ts';
import {
  type CommandProgram,
  claudeProgram,
  codexProgram,
  describeProgramError,
} from './command-programs.ts';
import { type CommandOutcome, runCommand } from './run-command.ts';

export interface CommandModelOptions {
  readonly command: 'claude' | 'codex';
  readonly timeoutMs: number;
  /** The program's file, if it is not searched for on PATH. */
  readonly path?: string;
  /** The folder in which each run gets an empty folder of its own, removed afterwards. */
  readonly cwd: string;
  /** Instar's environment; the program gets a small part of it, and never a base URL. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables for the program only, which may include a base URL. */
  readonly given?: Readonly<Record<string, string | undefined>>;
  /** Time from SIGTERM to SIGKILL. */
  readonly graceMs?: number;
}

const MOST_OUTPUT_BYTES = 4 * 1024 * 1024;
const LINES: Readonly<Record<CommandModelOptions['command'], CommandProgram>> = {
  claude: claudeProgram,
  codex: codexProgram,
};

/**
 * A command-line agent that its user already pays for, as a model: run headless, without tools and permissions. Its
 * text arrives in one piece; temperature and token limit are ignored.
 */
export function createCommandModel(options: CommandModelOptions): ChatModel {
  let replies = 0;
  return (request, { signal }) =>
    createChatEvents(signal, async function* (inner): AsyncGenerator<ChatEvent, undefined> {
      const line = LINES[options.command];
      if (request.tools.length > 0) {
        yield {
          type: 'failure',
          failure: createFailure('bad-request', `${line.name} is run without tools.`),
        };
        return;
      }
      replies++;
      const reply = readEnd(line, options, await runIn(line, options, request, inner));
      if ('kind' in reply) {
        yield { type: 'failure', failure: reply };
        return;
      }
      yield { type: 'reply-start', id: reply.id ?? `${line.name}-${replies}`, model: reply.model };
      if (reply.text !== '') yield { type: 'text-delta', text: reply.text };
      yield { type: 'reply-end', stop: reply.stop, ...(reply.usage ? { usage: reply.usage } : {}) };
    });
}

async function runIn(
  line: CommandProgram,
  { path, cwd, env, given = {}, timeoutMs, graceMs = 2_000 }: CommandModelOptions,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const { system, text } = encodeCommandPrompt(request);
  const folder = await mkdtemp(join(cwd, 'instar-command-'));
  try {
    const empty = join(folder, 'empty');
    const systemFile = join(folder, 'system.txt');
    await mkdir(empty);
    // A file, not an argument: arguments are limited in length, and any user of the machine can read them.
    await writeFile(systemFile, system, { mode: 0o600 });
    return await runCommand({
      file: path ?? line.name,
      args: line.args(systemFile),
      stdin: text,
      cwd: empty,
      env: { ...createCommandEnvironment(env, given), ...line.env },
      timeoutMs,
      graceMs,
      mostOutputBytes: MOST_OUTPUT_BYTES,
      signal,
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function readEnd(line: CommandProgram, { timeoutMs }: CommandModelOptions, end: CommandOutcome) {
  switch (end.kind) {
    case 'aborted':
      return createAbortedFailure();
    case 'timeout':
      return createFailure(
        'timeout',
        `${line.name} gave no answer within ${timeoutMs / 1000} s and was stopped.`,
      );
    case 'too-large':
      return createFailure('upstream-error', `${line.name} printed more than 4 MiB and was stopped.`, {
        final: true,
      });
    case 'not-started':
      return notStarted(line, end.code);
    case 'exit':
      return line.decode(end.stdout) ?? readUnknown(line, end);
  }
}

function notStarted(line: CommandProgram, code: string): Failure {
  const why = code === 'ENOENT' ? 'is not installed, or not on PATH' : `could not be started (${code})`;
  return createFailure('not-found', `${line.name} ${why}: ${line.install}.`, { final: true });
}

/** An exit without an answer: the error is taken from the last output. */
function readUnknown(line: CommandProgram, end: CommandOutcome & { kind: 'exit' }): Failure {
  const output = end.stderr.trim() || end.stdout.trim();
  if (/unknown option|unexpected argument/i.test(output)) {
    const message = `${line.name} is too old for the way it is called: ${line.install}.`;
    return createFailure('upstream-error', message, { final: true });
  }
  if (end.code === 0)
    return createFailure('upstream-error', `${line.name} printed no answer that Instar can parse.`);
  const complaint = describeProgramError(line, output);
  const exit = end.code === undefined ? 'was killed' : `exit code ${end.code}`;
  return { ...complaint, message: `${complaint.message} [${exit}]` };
}

interface CommandPrompt {
  readonly system: string;
  readonly text: string;
}

const WITHOUT_SYSTEM = 'You answer requests in plain text. You have no tools.';

/**
 * A conversation as one text for a headless program. It always begins with a fixed sentence: such programs take a
 * leading slash for one of their own commands, and the conversation is untrusted text.
 */
export function encodeCommandPrompt({ system, messages, format }: ChatRequest): CommandPrompt {
  const wanted = describeFormat(format);
  return {
    system: system.map(({ text }) => text).join('\n\n') || WITHOUT_SYSTEM,
    text: [encodeConversation(messages), ...(wanted === undefined ? [] : [wanted])].join('\n\n'),
  };
}

function encodeConversation(messages: readonly ChatMessage[]): string {
  const [first] = messages;
  if (messages.length === 1 && first?.role === 'user') return `The request:\n\n${encodeParts(first.content)}`;
  const turns = messages.map((message) => `[${message.role}]\n${encodeParts(message.content)}`);
  return [
    'The conversation so far:',
    ...turns,
    "Write the assistant's next reply, and nothing but the reply.",
  ].join('\n\n');
}

const encodeParts = (parts: readonly (UserPart | AssistantPart)[]): string =>
  parts.map(encodePart).join('\n');

function encodePart(part: UserPart | AssistantPart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool-call':
      return `(calls ${part.name} with ${part.arguments})`;
    case 'image':
    case 'file':
      return `(${part.type} not shown)`;
  }
}

function describeFormat(format: ReplyFormat | undefined): string | undefined {
  if (format === undefined) return undefined;
  const only = 'Answer with one JSON value and nothing else, no fence around it.';
  return format.type === 'json'
    ? only
    : `${only} It must fit this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

type Environment = Readonly<Record<string, string | undefined>>;

const NEEDED = new Set(['PATH', 'HOME', 'USER', 'LANG', 'TERM']);
const FAMILIES = ['ANTHROPIC_', 'CLAUDE_', 'OPENAI_', 'CODEX_'] as const;
const ADDRESS = /_(BASE_URL|API_BASE)$/;

/**
 * The environment of a headless program: the basic variables and its own sign-in. A family of variables that contains
 * a base URL is left out as a whole: the URL may be Instar's own, which would be a loop, and a key beside it belongs
 * to that URL only. `given` is passed unchanged.
 */
export function createCommandEnvironment(ambient: Environment, given: Environment): Record<string, string> {
  const foreign = FAMILIES.filter((family) =>
    Object.keys(ambient).some((name) => name.startsWith(family) && ADDRESS.test(name) && ambient[name]),
  );
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(ambient)) {
    const family = FAMILIES.find((prefix) => name.startsWith(prefix));
    const wanted = family === undefined ? NEEDED.has(name) : !foreign.includes(family) && !ADDRESS.test(name);
    if (wanted && value !== undefined) out[name] = value;
  }
  for (const [name, value] of Object.entries(given)) if (value !== undefined) out[name] = value;
  return out;
}
