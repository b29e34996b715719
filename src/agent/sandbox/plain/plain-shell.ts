import { readShellTokens, type ShellToken } from '../../../text/shell-tokens.ts';
import type { ConfinedRunOptions, ConfinedRunResult } from '../run-confined.ts';
import type { WorkspaceFiles } from '../workspace-files.ts';
import { SandboxError } from '../workspace-limits.ts';
import { EDIT_COMMANDS } from './edit-commands.ts';
import { FILE_COMMANDS } from './file-commands.ts';
import type { CommandOutput, PlainProgram } from './plain-program.ts';
import { TEXT_COMMANDS } from './text-commands.ts';

type PlainShell = (
  lines: string,
  options: Pick<ConfinedRunOptions, 'outputBytes'>,
) => Promise<ConfinedRunResult>;

const PROGRAMS: ReadonlyMap<string, PlainProgram> = new Map([
  ...FILE_COMMANDS,
  ...TEXT_COMMANDS,
  ...EDIT_COMMANDS,
]);
const MAX_INPUT = 256 * 1024;

/**
 * A built-in shell with some commands that access the workspace only, the same on every machine. It has no variables,
 * wildcards, loops or programs, so that every input terminates. Never rejects.
 */
export function createPlainShell(files: WorkspaceFiles): PlainShell {
  return async (lines, { outputBytes = 1024 * 1024 }) => {
    if (lines.length > MAX_INPUT) return { end: 'refused', why: 'the lines are longer than 256 KiB' };
    let pipes: readonly Pipe[];
    try {
      pipes = parseLines(lines);
    } catch (error) {
      return { end: 'refused', why: messageOf(error) };
    }
    let code = 0;
    let stdout = '';
    let stderr = '';
    for (const { after, commands } of pipes) {
      if (after !== 'always' && (after === 'success') !== (code === 0)) continue;
      const ended = await runPipe(commands, files);
      code = ended.code;
      stdout += ended.stdout ?? '';
      stderr += ended.stderr ?? '';
      if (stdout.length + stderr.length > outputBytes)
        return { end: 'stopped', why: 'output', stdout: stdout.slice(0, outputBytes), stderr: '' };
    }
    return { end: 'exit', code, stdout, stderr };
  };
}

async function runPipe(commands: readonly PlainCommand[], files: WorkspaceFiles): Promise<CommandOutput> {
  let stdin = '';
  let stderr = '';
  let code = 0;
  for (const command of commands) {
    const ended = await runOne(command, stdin, files);
    stdin = ended.stdout ?? '';
    stderr += ended.stderr ?? '';
    code = ended.code;
  }
  return { code, stdout: stdin, stderr };
}

async function runOne(
  { words, into }: PlainCommand,
  stdin: string,
  files: WorkspaceFiles,
): Promise<CommandOutput> {
  const [name = '', ...args] = words;
  const program = PROGRAMS.get(name);
  if (program === undefined)
    return {
      code: 127,
      stderr: `${name}: command not found; the commands are ${[...PROGRAMS.keys()].join(', ')}\n`,
    };
  try {
    const ended = await program({ args, stdin, files });
    if (into === undefined) return ended;
    await (into.isAppended ? files.append : files.write)(into.file, ended.stdout ?? '');
    return { ...ended, stdout: '' };
  } catch (error) {
    return { code: error instanceof SandboxError ? 2 : 1, stderr: `${name}: ${messageOf(error)}\n` };
  }
}

/** Without the path on the host, which the agent must not learn. */
const messageOf = (error: unknown): string => {
  if (error instanceof SandboxError) return error.message;
  if (!(error instanceof Error)) return String(error);
  return error.message.split(/, \w+ '/)[0] ?? error.message;
};

/** One command of a pipeline: its words, and the file that its output goes to. */
interface PlainCommand {
  readonly words: readonly string[];
  readonly into?: { readonly file: string; readonly isAppended: boolean };
}

/** Commands joined by `|`, and under which exit status of the previous pipeline they run. */
interface Pipe {
  readonly after: 'always' | 'success' | 'failure';
  readonly commands: readonly PlainCommand[];
}

/** Signs with a meaning in a real shell that is not supported here: rejected instead of taken literally. */
const UNKNOWN = /^#|[$`*?~()<{}[\]]/;
/** An array index inside of a word, `tickets[0]`, for `set`: not a wildcard. */
const INDEX = /(?<=.)\[\d{1,9}\]/g;
const AFTER: Readonly<Record<string, Pipe['after']>> = {
  '&&': 'success',
  '||': 'failure',
  ';': 'always',
  '\n': 'always',
};

/** Lines of the plain shell: words with quotes, `>` `>>` `|` `&&` `||` `;`. Throws a SandboxError for anything else. */
function parseLines(lines: string): readonly Pipe[] {
  const pipes: Pipe[] = [];
  let after: Pipe['after'] = 'always';
  let commands: PlainCommand[] = [];
  let words: string[] = [];
  let into: PlainCommand['into'];
  const endCommand = (): void => {
    if (words.length === 0) throw new SandboxError('a command is missing');
    commands.push({ words, ...(into === undefined ? {} : { into }) });
    words = [];
    into = undefined;
  };
  const tokens = readShellTokens(lines);
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    if (token.kind === 'heredoc') throw unsupported('<');
    if (token.kind === 'word') words.push(wordOf(token));
    else if (token.sign === '|') endCommand();
    else if (token.sign === '>' || token.sign === '>>') {
      const file = tokens[++index];
      if (file?.kind !== 'word') throw new SandboxError(`a file is missing after ${token.sign}`);
      into = { file: wordOf(file), isAppended: token.sign === '>>' };
    } else {
      const next = AFTER[token.sign];
      if (next === undefined) throw unsupported(token.sign);
      const isBlank = words.length === 0 && commands.length === 0 && into === undefined;
      if (isBlank && next === 'always') continue;
      endCommand();
      pipes.push({ after, commands });
      commands = [];
      after = next;
    }
  }
  const isOpen = words.length > 0 || commands.length > 0 || into !== undefined;
  if (isOpen || after !== 'always') {
    endCommand();
    pipes.push({ after, commands });
  }
  return pipes;
}

const unsupported = (sign: string): SandboxError =>
  new SandboxError(`${sign} is not supported: put it in single quotes`);

function wordOf({ text, shape, isClosed }: Extract<ShellToken, { kind: 'word' }>): string {
  if (!isClosed) throw new SandboxError('a quote is not closed');
  const sign = UNKNOWN.exec(shape.replace(INDEX, ''))?.[0];
  if (sign !== undefined) throw unsupported(sign);
  return text;
}
