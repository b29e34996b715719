import {
  graded,
  notRun,
  type Verification,
  type Verifier,
  type WorkspaceRunOptions,
  type WorkspaceRunResult,
} from '../../core/verifier.ts';
import type { PracticeVerifierRow } from '../../core/verifier-row.ts';

export type CommandOptions = Omit<
  Extract<PracticeVerifierRow, { readonly kind: 'command' }>,
  'kind' | 'domain'
>;

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
