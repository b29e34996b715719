import {
  type CheckOptions,
  type CheckResult,
  graded,
  notRun,
  type Verification,
  type Verifier,
} from './verifier.ts';

export interface CommandOptions {
  /** A program with its arguments, or a line for the shell. */
  readonly command: string | readonly string[];
  /** `plain`: the shell without programs, which works where nothing can be confined. */
  readonly shell?: 'confined' | 'plain' | undefined;
  readonly expectExit?: number | undefined;
  /** What its output must hold. */
  readonly expectStdout?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly outputBytes?: number | undefined;
  /** A folder with what the command needs: readable at its own path, as `$CHECKS`, and out of the attempt's reach. */
  readonly checks?: string | undefined;
  /** Whether a check that does not end says that the attempt is bad, or nothing. */
  readonly timeoutFails?: boolean | undefined;
}

/** A shell says so when there is no such program, or when it cannot be run: that is not the attempt's fault. */
const NOT_THERE = new Set([126, 127]);

/** Runs a check in the folder that the attempt worked in: the exit code is the grade. Throws for what cannot be run. */
export function createCommandVerifier(options: CommandOptions): Verifier {
  const { command, shell = 'confined', expectExit = 0, timeoutFails = false } = options;
  if (shell === 'plain' && typeof command !== 'string')
    throw new Error('the plain shell wants its command as one text, not as a list');
  const limits: CheckOptions = {
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
        ? graded(0, `the check did not end in ${limits.timeoutMs} ms`)
        : notRun(`the check was stopped: ${result.why}`);
    return gradeExit(result, expectExit, options.expectStdout);
  };
}

function gradeExit(
  { code, stdout, stderr }: Extract<CheckResult, { readonly end: 'exit' }>,
  expectExit: number,
  expectStdout: string | undefined,
): Verification {
  if (code !== expectExit) {
    const reason = `the check ended with ${code}, not ${expectExit}: ${lastWords(stderr || stdout)}`;
    return NOT_THERE.has(code) ? notRun(reason) : graded(0, reason);
  }
  if (expectStdout !== undefined && !stdout.includes(expectStdout))
    return graded(
      0,
      `the check did not say ${JSON.stringify(expectStdout.slice(0, 80))}: ${lastWords(stdout)}`,
    );
  return graded(1, `the check ended with ${code}`);
}

const lastWords = (text: string): string => text.trim().slice(-400) || 'it said nothing';
