import { setMaxListeners } from 'node:events';
import { runAgent } from '../../agent/agent.ts';
import { createPlainShellOf } from '../../agent/shell.ts';
import { readChoice } from '../../bench/read-choice.ts';
import { scoreChoice } from '../../bench/score-choice.ts';
import type { SampledTurn } from '../../core/policy.ts';
import { createWorkspace, type Workspace } from '../../sandbox/workspace.ts';
import { type PolicyOfAttempts, speakAsPolicy } from './speak-as-policy.ts';
import type { WorkTask } from './work-task.ts';

export interface Attempt {
  readonly turns: readonly SampledTurn[];
  readonly reward: number;
  readonly isComplete: boolean;
  /** The task itself, rules aside. */
  readonly isDone: boolean;
}

export interface AttemptOptions extends PolicyOfAttempts {
  readonly task: WorkTask;
  readonly count: number;
  readonly signal: AbortSignal;
  /** Told why an attempt came to no end. */
  readonly onFailure?: (why: string) => void;
}

/** Replies to one task, after which it has not been done. */
const MOST_STEPS = 4;

/**
 * So many attempts at a task side by side, each in a workspace of its own. Undefined stands for one that came to no end
 * through no fault of the policy. Rejects when the signal aborts.
 */
export async function attemptTask(options: AttemptOptions): Promise<readonly (Attempt | undefined)[]> {
  const { task, count } = options;
  // All of them listen to it at once.
  const signal = AbortSignal.any([options.signal]);
  setMaxListeners(0, signal);
  const places = Array.from({ length: count }, (_, at) => at);
  // All are ready before the first begins, so that all ask their first question in the same moment.
  const workspaces = await Promise.all(places.map(() => openWorkspace(task)));
  try {
    const attempts = await Promise.all(
      workspaces.map((workspace, at) => attemptOnce({ ...options, signal }, workspace, at)),
    );
    signal.throwIfAborted();
    return attempts;
  } finally {
    await Promise.all(workspaces.map((workspace) => workspace.dispose()));
  }
}

async function openWorkspace({ files }: WorkTask): Promise<Workspace> {
  const workspace = await createWorkspace();
  for (const [file, text] of Object.entries(files)) await workspace.write(file, text);
  return workspace;
}

async function attemptOnce(
  options: AttemptOptions,
  workspace: Workspace,
  place: number,
): Promise<Attempt | undefined> {
  const { task, signal, onFailure } = options;
  const { speak, session, turns } = speakAsPolicy(options, place);
  const run = await runAgent({
    speak,
    speaker: { session, agent: 'practice', runKind: 'train' },
    model: 'policy',
    system: task.system,
    history: [],
    prompt: task.question.text,
    shell: createPlainShellOf(workspace),
    limits: { steps: MOST_STEPS },
    signal,
  });
  if (run.failure !== undefined) onFailure?.(run.failure.message);
  if (run.failure !== undefined || signal.aborted) return undefined;
  const grade = await gradeAttempt(task, run.answer, workspace, signal);
  return grade && { turns, ...grade };
}

/**
 * What an attempt is worth: nothing while the task is not done, then as much as rules of the house were kept. Undefined
 * when the check itself did not run.
 */
async function gradeAttempt(
  { question }: WorkTask,
  answer: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Omit<Attempt, 'turns'> | undefined> {
  if (question.kind === 'choice') {
    const { score, exact } = scoreChoice(
      readChoice(answer, question.options),
      question.answer,
      question.options,
    );
    return { reward: score, isComplete: exact, isDone: exact };
  }
  const { status, passed, isDone, broken } = await question.check(workspace, signal);
  if (status === 'failed-to-run') return undefined;
  const kept = 1 - broken.length / Math.max(1, question.rules.length);
  return { reward: passed ? 1 : isDone === false ? 0 : kept, isComplete: passed, isDone: isDone ?? passed };
}
