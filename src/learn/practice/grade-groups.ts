import type { Ask } from '../../core/learn.ts';
import type { Attempt, AttemptGroup } from '../../core/practice.ts';
import type { Submission, Verification } from '../../core/verifier.ts';
import { createComparativeVerifier } from '../../evidence/verifiers/comparative-verifier.ts';
import { sessionsOf, type TaskAttempts } from './attempt-batch.ts';
import type { PracticeUnits } from './practice-units.ts';
import { RunStop } from './run-stop.ts';
import { tellAttempt } from './tell-attempt.ts';

const MOST_COMPARED = 8;

/**
 * The attempts at a task as a group. What a verifier graded is taken as it is; where nothing can grade, a model compares the attempts
 * with each other, each pair in both orders. Attempts that failed for reasons of our own are not in the group.
 */
export async function gradeGroup(
  id: string,
  { task, generation, attempts }: TaskAttempts,
  units: PracticeUnits,
  temperature: number,
  signal: AbortSignal,
): Promise<{ readonly group: AttemptGroup; readonly spent?: string }> {
  const graded = attempts.filter(({ outcome }) => outcome.is === 'graded');
  const ungraded = attempts.filter(({ outcome }) => outcome.is === 'ungraded').slice(0, MOST_COMPARED);
  const ask = units.askAbout(sessionsOf(task));
  const group = { id, task, generation };
  if (graded.length >= ungraded.length || ungraded.length < 2 || ask === undefined)
    return { group: { ...group, gradedBy: 'verifier', attempts: graded } };
  const submissions = ungraded.map(
    (attempt): Submission => ({ task: task.prompt, domain: task.domain, output: tellAttempt(attempt, task) }),
  );
  let spent: string | undefined;
  const judging: Ask = async (question, stop) => {
    const answer = await ask({ ...question, temperature }, stop);
    if (answer.ok || answer.cause === 'reply') return answer;
    if (stop.aborted) throw new RunStop('aborted');
    if (answer.cause !== 'budget') throw new RunStop('stuck', answer.why);
    spent ??= answer.why;
    return answer;
  };
  const grades = await createComparativeVerifier(judging)(submissions, signal);
  // A comparison of some pairs only is no grade.
  const compared =
    spent === undefined ? ungraded.flatMap((attempt, at) => withGrade(attempt, grades[at])) : [];
  return {
    group: { ...group, gradedBy: 'compared', attempts: compared },
    ...(spent === undefined ? {} : { spent }),
  };
}

function withGrade(attempt: Attempt, grade: Verification | undefined): readonly Attempt[] {
  if (grade?.status !== 'ok') return [];
  const { reward, reasons } = grade;
  return [{ ...attempt, outcome: { is: 'graded', reward, reasons } }];
}
