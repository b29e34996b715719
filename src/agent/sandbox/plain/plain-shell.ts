import type { ConfinedRunOptions, ConfinedRunResult } from '../run-confined.ts';
import type { WorkspaceFiles } from '../workspace-files.ts';
import { SandboxError } from '../workspace-limits.ts';
import { EDIT_COMMANDS } from './edit-commands.ts';
import { FILE_COMMANDS } from './file-commands.ts';
import { type Pipe, type PlainCommand, parseLines } from './parse-lines.ts';
import type { CommandOutput, PlainProgram } from './plain-program.ts';
import { TEXT_COMMANDS } from './text-commands.ts';

export type PlainShell = (
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
