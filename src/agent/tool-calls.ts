import { undefinedIfAborted } from '../base/until-aborted.ts';
import type { ChatMessage, Tool, ToolCallPart } from '../core/chat.ts';
import { errorMessage } from '../core/failure.ts';
import { isObject, parseJson } from '../core/json.ts';
import { truncateMiddle } from '../text/truncate.ts';
import { splitDone } from './end-of-task.ts';
import { COMMAND_PARAMETERS, TOOL_DESCRIPTION } from './prompts.ts';
import type { Shell, ShellResult } from './shell.ts';

const NAME = 'run_command';
const EXAMPLE = '{"command": "ls"}';

/** The agent's only tool, with the description of its shell. */
export const createCommandTool = (about: string | undefined): Tool => ({
  name: NAME,
  description: about === undefined ? TOOL_DESCRIPTION : `${TOOL_DESCRIPTION}\n\n${about}`,
  parameters: COMMAND_PARAMETERS,
});

/** The command of a call, or a message to the model about what is wrong with the call and how to fix it. */
type CommandCall =
  | { readonly ok: true; readonly command: string }
  | { readonly ok: false; readonly why: string };

function readCommandCall({ name, arguments: text }: ToolCallPart): CommandCall {
  if (name !== NAME) {
    const hint =
      name === 'done'
        ? `To end the task, call ${NAME} with {"command": "done"}.`
        : `Call ${NAME} with ${EXAMPLE}.`;
    return {
      ok: false,
      why: `Unknown tool ${JSON.stringify(name.slice(0, 80))}: the only one is ${NAME}. ${hint}`,
    };
  }
  const given = text.trim() === '' ? {} : parseJson(text);
  if (given === undefined)
    return wrong(`they are not JSON${isCutOff(text) ? ' and seem to be cut off' : ''}`);
  if (!isObject(given)) return wrong('they are not an object');
  const { command } = given;
  if (command === undefined) return wrong('"command" is missing');
  if (typeof command !== 'string') return wrong('"command" is not a string');
  return command.trim() === '' ? wrong('"command" is empty') : { ok: true, command };
}

const wrong = (what: string): CommandCall => ({
  ok: false,
  why: `Invalid arguments for ${NAME}: ${what}. Nothing was run. Write them as ${EXAMPLE}, with line breaks as \\n and quotes as \\" inside of the string.`,
});

/** A reply that reached its length limit ends in the middle of a call. */
const isCutOff = (text: string): boolean => text.trimStart().startsWith('{') && !text.trimEnd().endsWith('}');

const leftOut = (left: number, length: number): string =>
  `[... ${left} of ${length} characters left out ...]`;

/** A command that was passed to the shell. */
export interface AgentCommand {
  /** Without a trailing `done`. */
  readonly command: string;
  readonly code: number;
  /** The complete output of the shell. */
  readonly output: string;
  /** Why the command was not run. */
  readonly refused?: string;
}

interface ToolCallResults {
  /** One for each call, in order. */
  readonly results: readonly ChatMessage[];
  readonly commands: readonly AgentCommand[];
  readonly end?: 'done' | 'aborted';
}

interface ToolCallResult {
  readonly text: string;
  readonly isError?: true;
  readonly run?: AgentCommand;
  readonly end?: 'done' | 'aborted';
}

/** The usual exit code of an interrupted command. */
const INTERRUPTED = 130;
const UNRUN = {
  done: 'Not run: the task was already ended by `done`.',
  aborted: 'Not run: the task was stopped.',
} as const;

/** Runs the tool calls of one reply in order. Each gets exactly one result, also an invalid one. Never rejects. */
export async function runToolCalls(
  /** The calls as the model made them, and as they are kept in the conversation. */
  calls: readonly { readonly made: ToolCallPart; readonly kept: ToolCallPart }[],
  shell: Shell,
  outputCharacters: number,
  signal: AbortSignal,
): Promise<ToolCallResults> {
  const results: ChatMessage[] = [];
  const commands: AgentCommand[] = [];
  let end: ToolCallResults['end'];
  for (const { made, kept } of calls) {
    const answer: ToolCallResult =
      end === undefined
        ? await runToolCall(made, shell, outputCharacters, signal)
        : { text: UNRUN[end], isError: true };
    const { text, isError, run } = answer;
    const content = [{ type: 'text' as const, text }];
    results.push({ role: 'tool', callId: kept.id, content, ...(isError === undefined ? {} : { isError }) });
    if (run !== undefined) commands.push(run);
    end ??= answer.end;
  }
  return { results, commands, ...(end === undefined ? {} : { end }) };
}

async function runToolCall(
  call: ToolCallPart,
  shell: Shell,
  outputCharacters: number,
  signal: AbortSignal,
): Promise<ToolCallResult> {
  if (signal.aborted) return { text: UNRUN.aborted, isError: true, end: 'aborted' };
  const read = readCommandCall(call);
  if (!read.ok) return { text: read.why, isError: true };
  const { lines, ends } = splitDone(read.command);
  if (ends !== undefined && lines.trim() === '') return { text: 'The task is over.', end: 'done' };
  const ran = await undefinedIfAborted(() => runGuarded(shell, lines, signal), signal);
  if (ran === undefined || signal.aborted) {
    const run: AgentCommand = { command: lines, ...(ran ?? { code: INTERRUPTED, output: '' }) };
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
    return { code: 1, output: `The shell failed: ${errorMessage(error)}` };
  }
}
