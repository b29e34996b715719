import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import type { TaskVerdict } from '../suite/suite.ts';
import { checkBackup } from './check-backup.ts';
import { checkDoneLog } from './check-done-log.ts';
import { checkFilename } from './check-filename.ts';
import { checkIso8601 } from './check-iso8601.ts';
import { checkMetadata } from './check-metadata.ts';
import { ruleOf } from './rules.ts';
import { runPython } from './run-python.ts';
import type { FileName, Step } from './step.ts';

export interface Expected {
  readonly exit: number;
  /** Somewhere in what the programs print. */
  readonly stdout?: string;
  /** For each program. */
  readonly timeoutMs: number;
}

/** What a step came to: a shell's exit code, or that it could not be run. */
type StepEnd =
  | { readonly code: number; readonly stdout: string; readonly reason: string }
  | { readonly failed: string };

/**
 * Runs the links of a check one after another, as `&&` does, up to the first that does not end with 0. Never rejects:
 * what the work brings about is a failed check, what is wrong with the machine is a check that failed to run.
 */
export async function runSteps(
  workspace: Workspace,
  steps: readonly Step[],
  expected: Expected,
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

const reasonFor = (end: { readonly code: number; readonly reason: string }, expected: Expected): string => {
  if (end.code !== 0) return end.reason;
  return expected.exit === 0
    ? `the check did not print ${JSON.stringify(expected.stdout)}`
    : 'the check found nothing wrong, and should have';
};

async function runStep(
  workspace: Workspace,
  step: Step,
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

/** What a program prints is one name, whatever is in it: names that look like options or like two are still names. */
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
