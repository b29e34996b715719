import {
  graded,
  notRun,
  type Verification,
  type Verifier,
  type WorkspaceRunOptions,
  type WorkspaceRunResult,
} from './verifier.ts';

export interface CommandOptions {
  /** A program with its arguments, or a line for the shell. */
  readonly command: string | readonly string[];
  /** `plain`: the built-in shell without programs, for machines that cannot confine processes. */
  readonly shell?: 'confined' | 'plain' | undefined;
  readonly expectExit?: number | undefined;
  /** Text that the output must contain. */
  readonly expectStdout?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly outputBytes?: number | undefined;
  /** A folder with the command's files: readable at its own path, as `$CHECKS`, and hidden from the attempt. */
  readonly checks?: string | undefined;
  /** Whether a time-out of the check is a grade of 0 or no grade. */
  readonly timeoutFails?: boolean | undefined;
}

/** Exit codes for a program that is missing or cannot be run, which is not the attempt's fault. */
const NOT_THERE = new Set([126, 127]);

/** Runs a check in the attempt's workspace: the exit code is the grade. Throws for options that cannot work. */
export function createCommandVerifier(options: CommandOptions): Verifier {
  const { command, shell = 'confined', expectExit = 0, timeoutFails = false } = options;
  if (shell === 'plain' && typeof command !== 'string')
    throw new Error('the plain shell takes its command as one string, not as a list');
  const limits: WorkspaceRunOptions = {
    timeoutMs: options.timeoutMs ?? 30_000,
    outputBytes: options.outputBytes ?? 1024 * 1024,
    ...(options.checks === undefined ? {} : { readable: [options.checks], env: { CHECKS: options.checks } }),
  };
  return async ({ workspace }, signal) => {
    if (workspace === undefined) return notRun('the attempt left no workspace to check');
    const result =
      shell === 'plain' && typeof command === 'string'
        ? await workspace.runPlain(command, limits)
        : await workspace.run(command, limits, signal);
    if (result.end === 'refused') return notRun(`the check was refused: ${result.why}`);
    if (result.end === 'stopped')
      return result.why === 'timeout' && timeoutFails
        ? graded(0, `the check timed out after ${limits.timeoutMs} ms`)
        : notRun(`the check was stopped: ${result.why}`);
    return gradeExit(result, expectExit, options.expectStdout);
  };
}

function gradeExit(
  { code, stdout, stderr }: Extract<WorkspaceRunResult, { readonly end: 'exit' }>,
  expectExit: number,
  expectStdout: string | undefined,
): Verification {
  if (code !== expectExit) {
    const reason = `the check exited with ${code}, not ${expectExit}: ${lastWords(stderr || stdout)}`;
    return NOT_THERE.has(code) ? notRun(reason) : graded(0, reason);
  }
  if (expectStdout !== undefined && !stdout.includes(expectStdout))
    return graded(
      0,
      `the check did not print ${JSON.stringify(expectStdout.slice(0, 80))}: ${lastWords(stdout)}`,
    );
  return graded(1, `the check exited with ${code}`);
}

const lastWords = (text: string): string => text.trim().slice(-400) || 'no output';
