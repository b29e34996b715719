import { createLruMap } from '../../base/lru-map.ts';
import type { ChatMessage } from '../../core/chat.ts';
import type { Ask, TrajectoryStep } from '../../core/learn.ts';
import type { PracticeTask } from '../../core/practice.ts';
import { notRun, type Submission, type Verification } from '../../core/verifier.ts';
import { readTrajectory } from '../trajectory.ts';
import { createVerifiers, type Verifiers } from './registry.ts';

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
    if (check === undefined) return notRun('the task has no check');
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

/** The steps of an attempt, as those of a recorded turn are read: results digested, each passage with its author. */
export const readAttemptSteps = (messages: readonly ChatMessage[]): readonly TrajectoryStep[] =>
  readTrajectory({ messages, from: 0, reply: 0 });
