import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { TaskVerdict } from '../suite.ts';
import {
  checkBackup,
  checkDoneLog,
  checkFilename,
  checkIso8601,
  checkMetadata,
  type Grading,
} from './checkers.ts';
import type { CheckStep, FileName } from './parse-command.ts';
import { rulesCheckedBy } from './rules.ts';

export interface ExpectedOutcome {
  readonly exit: number;
  /** A substring of the programs' output. */
  readonly stdout?: string;
  /** For each program. */
  readonly timeoutMs: number;
}

/** The result of a step: an exit code, or that it could not be run. */
type StepEnd = StepExit | { readonly failed: string };
interface StepExit {
  readonly code: number;
  readonly stdout: string;
  readonly reason: string;
}

/**
 * Runs the steps of a check like `&&`: the first exit code other than 0 decides. The steps after it are run too, so that every rule that
 * was broken is named: a rule that nobody looked at was not followed. Never rejects: an error caused by the work is a failed check, an error
 * of the machine is a check that failed to run.
 */
export async function runSteps(
  workspace: Workspace,
  steps: readonly CheckStep[],
  expected: ExpectedOutcome,
  signal: AbortSignal,
): Promise<TaskVerdict> {
  const run = createRunner(workspace, expected.timeoutMs, signal);
  const ends: StepEnd[] = [];
  for (const step of steps) ends.push(await run(step, 'ours'));
  const { decided, isAsExpected } = decide(ends, expected);
  if ('failed' in decided)
    return { status: 'failed-to-run', passed: false, broken: [], reasons: [decided.failed] };
  const broken = new Set(
    steps.flatMap((step, nth) => {
      const end = ends[nth];
      const isBroken = end !== undefined && 'code' in end && end.code !== 0 && end.code !== expected.exit;
      return isBroken ? rulesCheckedBy(step) : [];
    }),
  );
  const lenient: StepEnd[] = [];
  for (const [nth, step] of steps.entries()) {
    const end = ends[nth];
    const isSame = end !== undefined && 'code' in end && end.code === 0;
    lenient.push(isSame ? end : await run(step, 'official'));
  }
  const official = decide(lenient, expected).isAsExpected;
  if (isAsExpected) return { status: 'ok', passed: true, broken: [], reasons: [], official };
  return {
    status: 'ok',
    passed: false,
    broken: [...broken].sort(),
    reasons: [reasonFor(decided, expected)],
    official,
  };
}

/** The end that decides: the first that is not an exit with 0, otherwise the last. */
function decide(
  ends: readonly StepEnd[],
  expected: ExpectedOutcome,
): { readonly decided: StepEnd; readonly isAsExpected: boolean } {
  let stdout = '';
  let decided: StepEnd = { code: 0, stdout: '', reason: '' };
  for (const end of ends) {
    decided = end;
    if ('failed' in end) return { decided, isAsExpected: false };
    stdout += end.stdout;
    if (end.code !== 0) break;
  }
  const isPrinted = expected.stdout === undefined || stdout.includes(expected.stdout);
  return { decided, isAsExpected: 'code' in decided && decided.code === expected.exit && isPrinted };
}

const reasonFor = (
  end: { readonly code: number; readonly reason: string },
  expected: ExpectedOutcome,
): string => {
  if (end.code !== 0) return end.reason;
  return expected.exit === 0
    ? `the check did not print ${JSON.stringify(expected.stdout)}`
    : 'the check found nothing wrong, and should have';
};

type RunPython = (code: string) => Promise<PythonEnd>;

/** Runs steps of one check. A program runs once, however many steps and gradings ask for it. */
function createRunner(
  workspace: Workspace,
  timeoutMs: number,
  signal: AbortSignal,
): (step: CheckStep, grading: Grading) => Promise<StepEnd> {
  const ran = new Map<string, Promise<PythonEnd>>();
  const python: RunPython = (code) => {
    const known = ran.get(code) ?? runPython(workspace, code, timeoutMs, signal);
    ran.set(code, known);
    return known;
  };
  return (step, grading) =>
    (signal.aborted
      ? Promise.resolve({ failed: 'the check was aborted' })
      : runStep(workspace, step, grading, python)
    ).catch(
      (error: unknown): StepEnd => ({ failed: error instanceof Error ? error.message : String(error) }),
    );
}

async function runStep(
  workspace: Workspace,
  step: CheckStep,
  grading: Grading,
  python: RunPython,
): Promise<StepEnd> {
  if (step.kind === 'python') {
    const end = await python(step.code);
    if ('failed' in end) return end;
    return {
      code: end.code,
      stdout: end.stdout,
      reason: `a check in Python ended with ${end.code}: ${end.said || step.code.slice(0, 200)}`,
    };
  }
  if (step.kind === 'filename' && 'folder' in step)
    return endOf(await checkFilename(workspace, step, grading));
  const named = await nameFile(step.file, python);
  if (!('name' in named)) return named;
  const { name } = named;
  switch (step.kind) {
    case 'iso8601':
      return endOf(await checkIso8601(workspace, name, step.fields, grading));
    case 'filename':
      return endOf(await checkFilename(workspace, { file: name }, grading));
    case 'metadata':
      return endOf(await checkMetadata(workspace, name, step.type, grading));
    case 'backup':
      return endOf(await checkBackup(workspace, name));
    case 'done-log':
      return endOf(await checkDoneLog(workspace, { ...step, file: name }));
  }
}

const endOf = (fault: string | undefined): StepEnd => ({
  code: fault === undefined ? 0 : 1,
  stdout: '',
  reason: fault ?? '',
});

/** The whole output of a program is one name, even if it looks like an option or like two names. */
async function nameFile(file: FileName, python: RunPython): Promise<{ readonly name: string } | StepEnd> {
  if ('name' in file) return file;
  const end = await python(file.code);
  if ('failed' in end) return end;
  const name = end.stdout.replace(/\n$/, '');
  if (end.code === 0 && name !== '') return { name };
  return {
    code: 1,
    stdout: '',
    reason: `the file to check was not found: ${end.said || file.code.slice(0, 200)}`,
  };
}

/** A program's result, or why it could not be run, which says nothing about the work. */
type PythonEnd =
  | { readonly code: number; readonly stdout: string; readonly said: string }
  | { readonly failed: string };

/** The exit code of a program that exceeded its time, output or memory limit. */
const STOPPED_CODE = 124;
/** A shell's exit codes for a missing or forbidden program. */
const NO_PROGRAM: readonly number[] = [126, 127];

/**
 * Runs Python code in the workspace's sandbox. Isolated (`-I`): modules come neither from the workspace nor from its environment, so a file
 * there cannot replace `json`. No bytecode is written (`-B`).
 */
async function runPython(
  workspace: Workspace,
  code: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PythonEnd> {
  const result = await workspace.run(['python3', '-I', '-B', '-c', code], { timeoutMs }, signal);
  switch (result.end) {
    case 'refused':
      return { failed: result.why };
    case 'stopped':
      if (result.why === 'aborted') return { failed: 'the check was aborted' };
      return { code: STOPPED_CODE, stdout: result.stdout, said: `stopped: ${result.why}` };
    case 'exit':
      if (NO_PROGRAM.includes(result.code))
        return { failed: `python3 cannot be run: ${lastLine(result.stderr)}` };
      return { code: result.code, stdout: result.stdout, said: lastLine(result.stderr) };
  }
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.slice(0, 200) ?? '';
