import { undefinedIfAborted } from '../base/until-aborted.ts';
import type { ChatMessage, ToolCallPart } from '../core/chat.ts';
import { truncateMiddle } from '../text/truncate.ts';
import { readCommandCall } from './command-call.ts';
import type { Shell, ShellResult } from './shell.ts';
import { splitDone } from './split-done.ts';

const leftOut = (left: number, length: number): string =>
  `[... ${left} of ${length} characters left out ...]`;

/** A command that was passed to the shell. */
export interface CommandRun {
  /** Without a trailing `done`. */
  readonly command: string;
  readonly code: number;
  /** The complete output of the shell. */
  readonly output: string;
  /** Why the command was not run. */
  readonly refused?: string;
}

export interface AnsweredCalls {
  /** One for each call, in order. */
  readonly results: readonly ChatMessage[];
  readonly commands: readonly CommandRun[];
  readonly end?: 'done' | 'aborted';
}

interface Answer {
  readonly text: string;
  readonly isError?: true;
  readonly run?: CommandRun;
  readonly end?: 'done' | 'aborted';
}

/** The usual exit code of an interrupted command. */
const INTERRUPTED = 130;
const UNRUN = {
  done: 'Not run: the task was already ended by `done`.',
  aborted: 'Not run: the task was stopped.',
} as const;

/** Runs the tool calls of one reply in order. Each gets exactly one result, also an invalid one. Never rejects. */
export async function answerCalls(
  /** The calls as the model made them, and as they are kept in the conversation. */
  calls: readonly { readonly made: ToolCallPart; readonly kept: ToolCallPart }[],
  shell: Shell,
  outputCharacters: number,
  signal: AbortSignal,
): Promise<AnsweredCalls> {
  const results: ChatMessage[] = [];
  const commands: CommandRun[] = [];
  let end: AnsweredCalls['end'];
  for (const { made, kept } of calls) {
    const answer: Answer =
      end === undefined
        ? await answerCall(made, shell, outputCharacters, signal)
        : { text: UNRUN[end], isError: true };
    const { text, isError, run } = answer;
    const content = [{ type: 'text' as const, text }];
    results.push({ role: 'tool', callId: kept.id, content, ...(isError === undefined ? {} : { isError }) });
    if (run !== undefined) commands.push(run);
    end ??= answer.end;
  }
  return { results, commands, ...(end === undefined ? {} : { end }) };
}

async function answerCall(
  call: ToolCallPart,
  shell: Shell,
  outputCharacters: number,
  signal: AbortSignal,
): Promise<Answer> {
  if (signal.aborted) return { text: UNRUN.aborted, isError: true, end: 'aborted' };
  const read = readCommandCall(call);
  if (!read.ok) return { text: read.why, isError: true };
  const { lines, ends } = splitDone(read.command);
  if (ends !== undefined && lines.trim() === '') return { text: 'The task is over.', end: 'done' };
  const ran = await undefinedIfAborted(() => runGuarded(shell, lines, signal), signal);
  if (ran === undefined || signal.aborted) {
    const run: CommandRun = { command: lines, ...(ran ?? { code: INTERRUPTED, output: '' }) };
    return { text: 'Stopped: the task was ended while this ran.', isError: true, run, end: 'aborted' };
  }
  const isDone = ran.refused === undefined && (ends === 'always' || (ends === 'success' && ran.code === 0));
  const shown =
    truncateMiddle(ran.output, outputCharacters, { gap: leftOut }).trimEnd() || '(nothing was printed)';
  const note = ends === undefined || isDone ? '' : `\n${notDone(ran)}`;
  return {
    text: `Exit code: ${ran.code}\n${shown}${note}`,
    ...(ran.refused === undefined ? {} : { isError: true as const }),
    run: { command: lines, ...ran },
    ...(isDone ? { end: 'done' as const } : {}),
  };
}

const notDone = ({ refused }: ShellResult): string =>
  refused === undefined
    ? '[`done` did not count: what stands before its && failed]'
    : '[`done` did not count: the lines before it were not run]';

/** A shell must not reject; if it does, the command has failed and the task goes on. */
async function runGuarded(shell: Shell, lines: string, signal: AbortSignal): Promise<ShellResult> {
  try {
    return await shell(lines, signal);
  } catch (error) {
    return { code: 1, output: `The shell failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}
