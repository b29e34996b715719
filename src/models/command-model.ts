import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChatEvent, ChatModel, ChatRequest } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { createChatEvents } from './chat-events.ts';
import { claudeLine } from './claude-line.ts';
import { codexLine } from './codex-line.ts';
import { createCommandEnvironment } from './command-environment.ts';
import { type CommandLine, describeComplaint } from './command-line.ts';
import { encodeCommandPrompt } from './command-prompt.ts';
import { createAborted } from './model-error.ts';
import { type CommandEnd, runCommand } from './run-command.ts';

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
const LINES: Readonly<Record<CommandModelOptions['command'], CommandLine>> = {
  claude: claudeLine,
  codex: codexLine,
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
  line: CommandLine,
  { path, cwd, env, given = {}, timeoutMs, graceMs = 2_000 }: CommandModelOptions,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<CommandEnd> {
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

function readEnd(line: CommandLine, { timeoutMs }: CommandModelOptions, end: CommandEnd) {
  switch (end.kind) {
    case 'aborted':
      return createAborted();
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

function notStarted(line: CommandLine, code: string): Failure {
  const why = code === 'ENOENT' ? 'is not installed, or not on PATH' : `could not be started (${code})`;
  return createFailure('not-found', `${line.name} ${why}: ${line.install}.`, { final: true });
}

/** An exit without an answer: the error is taken from the last output. */
function readUnknown(line: CommandLine, end: CommandEnd & { kind: 'exit' }): Failure {
  const output = end.stderr.trim() || end.stdout.trim();
  if (/unknown option|unexpected argument/i.test(output)) {
    const message = `${line.name} is too old for the way it is called: ${line.install}.`;
    return createFailure('upstream-error', message, { final: true });
  }
  if (end.code === 0)
    return createFailure('upstream-error', `${line.name} printed no answer that Instar can parse.`);
  const complaint = describeComplaint(line, output);
  const exit = end.code === undefined ? 'was killed' : `exit code ${end.code}`;
  return { ...complaint, message: `${complaint.message} [${exit}]` };
}
