import { PLAIN_COMMANDS, REAL_COMMANDS } from './prompts.ts';
import type { ConfinedRunOptions, ConfinedRunResult } from './sandbox/run-confined.ts';
import type { Workspace } from './sandbox/workspace.ts';

export interface ShellResult {
  readonly code: number;
  /** Standard output, then standard error. */
  readonly output: string;
  /** Why the command was not run. */
  readonly refused?: string;
}

/** Runs commands in an agent's workspace, one after another. Never rejects. */
export interface Shell {
  (command: string, signal: AbortSignal): Promise<ShellResult>;
  /** Describes its commands to the model. */
  readonly about?: string;
}

/** The exit codes that are usual for: not run, time-out, too much output, interrupted, too much written. */
const REFUSED = 126;
const STOPPED = { timeout: 124, output: 141, aborted: 130, size: 153 } as const;
const WHY_STOPPED = {
  timeout: 'it ran out of time',
  output: 'it printed too much',
  aborted: 'the task was ended',
  size: 'it wrote more than the workspace may hold',
} as const;

/** The built-in command language: the same on every machine, and it cannot leave the workspace. */
export function createPlainAgentShell(
  workspace: Workspace,
  options: Pick<ConfinedRunOptions, 'outputBytes'> = {},
): Shell {
  const shell: Shell = async (command) => resultOf(await workspace.runPlain(command, options));
  return Object.assign(shell, { about: PLAIN_COMMANDS });
}

/** Real commands in a sandbox. Where the machine cannot confine them they are refused with the reason. */
export function createConfinedAgentShell(workspace: Workspace, options: ConfinedRunOptions = {}): Shell {
  const shell: Shell = async (command, signal) => resultOf(await workspace.run(command, options, signal));
  return Object.assign(shell, { about: REAL_COMMANDS });
}

function resultOf(result: ConfinedRunResult): ShellResult {
  if (result.end === 'refused')
    return { code: REFUSED, output: `Not run: ${result.why}`, refused: result.why };
  if (result.end === 'exit') return { code: result.code, output: joined(result.stdout, result.stderr) };
  const note = `[stopped: ${WHY_STOPPED[result.why]}]`;
  return { code: STOPPED[result.why], output: joined(joined(result.stdout, result.stderr), note) };
}

const joined = (first: string, second: string): string =>
  first === '' || second === '' || first.endsWith('\n') ? first + second : `${first}\n${second}`;
