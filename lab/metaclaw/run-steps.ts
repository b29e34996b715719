import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import type { TaskVerdict } from '../suite/suite.ts';
import { checkBackup, checkDoneLog, checkFilename, checkIso8601, checkMetadata } from './checkers.ts';
import type { CheckStep, FileName } from './parse-command.ts';
import { ruleOf } from './rules.ts';

export interface ExpectedOutcome {
  readonly exit: number;
  /** A substring of the programs' output. */
  readonly stdout?: string;
  /** For each program. */
  readonly timeoutMs: number;
}

/** The result of a step: an exit code, or that it could not be run. */
type StepEnd =
  | { readonly code: number; readonly stdout: string; readonly reason: string }
  | { readonly failed: string };

/**
 * Runs the steps of a check like `&&`, up to the first exit code other than 0. Never rejects: an error caused by the work is a failed check,
 * an error of the machine is a check that failed to run.
 */
export async function runSteps(
  workspace: Workspace,
  steps: readonly CheckStep[],
  expected: ExpectedOutcome,
  signal: AbortSignal,
): Promise<TaskVerdict> {
  let stdout = '';
  for (const [index, step] of steps.entries()) {
    const end = await runStep(workspace, step, expected.timeoutMs, signal).catch(
      (error: unknown): StepEnd => ({ failed: error instanceof Error ? error.message : String(error) }),
    );
    if ('failed' in end) return { status: 'failed-to-run', passed: false, broken: [], reasons: [end.failed] };
    stdout += end.stdout;
    if (end.code === 0 && index < steps.length - 1) continue;
    const isPrinted = expected.stdout === undefined || stdout.includes(expected.stdout);
    if (end.code === expected.exit && isPrinted) break;
    const rule = end.code === 0 ? undefined : ruleOf(step);
    return {
      status: 'ok',
      passed: false,
      broken: rule === undefined ? [] : [rule],
      reasons: [reasonFor(end, expected)],
    };
  }
  return { status: 'ok', passed: true, broken: [], reasons: [] };
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

async function runStep(
  workspace: Workspace,
  step: CheckStep,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<StepEnd> {
  if (signal.aborted) return { failed: 'the check was aborted' };
  if (step.kind === 'python') {
    const end = await runPython(workspace, step.code, timeoutMs, signal);
    if ('failed' in end) return end;
    return {
      code: end.code,
      stdout: end.stdout,
      reason: `a check in Python ended with ${end.code}: ${end.said || step.code.slice(0, 200)}`,
    };
  }
  if (step.kind === 'filename' && 'folder' in step) return endOf(await checkFilename(workspace, step));
  const named = await nameFile(workspace, step.file, timeoutMs, signal);
  if (!('name' in named)) return named;
  const { name } = named;
  switch (step.kind) {
    case 'iso8601':
      return endOf(await checkIso8601(workspace, name, step.fields));
    case 'filename':
      return endOf(await checkFilename(workspace, { file: name }));
    case 'metadata':
      return endOf(await checkMetadata(workspace, name, step.type));
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
async function nameFile(
  workspace: Workspace,
  file: FileName,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly name: string } | StepEnd> {
  if ('name' in file) return file;
  const end = await runPython(workspace, file.code, timeoutMs, signal);
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
