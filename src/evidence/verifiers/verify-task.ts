import { createLruMap } from '../../base/lru-map.ts';
import type { ChatMessage } from '../../core/chat.ts';
import type { Ask, TrajectoryStep } from '../../core/learn.ts';
import type { PracticeTask, TaskCheck } from '../../core/practice.ts';
import { notRun, type Submission, type Verification } from '../../core/verifier.ts';
import type { VerifierRow } from '../../core/verifier-row.ts';
import { readTrajectory } from '../trajectory.ts';
import { isAnswerKnown } from './answer-verifiers.ts';
import { createVerifiers, fitsDomain, type Verifiers } from './registry.ts';

const MOST_KEPT = 64;

/**
 * Grades an attempt by its task's own check. Never rejects: a check that cannot be created, or a task without one, has failed
 * to run. Verifiers that were created are kept for further attempts at the task.
 */
export function createTaskVerifier(parts: {
  readonly ask?: Ask;
}): (task: PracticeTask, submission: Submission, signal: AbortSignal) => Promise<Verification> {
  const known = createLruMap<string, Promise<Verifiers>>(MOST_KEPT);
  return async ({ check }, submission, signal) => {
    if (check === undefined || check.kind === 'rules') return notRun('the task has no verifier');
    const key = JSON.stringify(check);
    // The check belongs to this task, whatever its domain is.
    const verifiers = known.get(key) ?? createVerifiers([{ ...check, domain: '*' }], parts);
    known.set(key, verifiers);
    try {
      return await (await verifiers).verify(submission, signal);
    } catch (error) {
      return notRun(error instanceof Error ? error.message : String(error));
    }
  };
}

/**
 * The check that the owner configured for a task's domain: the first row that fits the domain, where it can grade an attempt at this
 * task. A row that needs to know the right answer cannot unless the task, or the row, tells it; undefined then.
 */
export function checkOfDomain(
  { domain, prompt, reference }: PracticeTask,
  rows: readonly VerifierRow[],
  hasModel: boolean,
): TaskCheck | undefined {
  const row = rows.find((one) => fitsDomain(one.domain, domain));
  if (row === undefined) return undefined;
  const isKnown =
    (row.kind !== 'exact' && row.kind !== 'number') || isAnswerKnown({ task: prompt, reference }, row);
  if (!isKnown || (row.kind === 'rubric' && !hasModel)) return undefined;
  const { domain: _, ...check } = row;
  return check;
}

/** The steps of an attempt, as those of a recorded turn are read: results digested, each passage with its author. */
export const readAttemptSteps = (messages: readonly ChatMessage[]): readonly TrajectoryStep[] =>
  readTrajectory({ messages, from: 0, reply: 0 });
